// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/windows.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace ringscope::transport {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;

std::int64_t bytes_of(int rank) {
    return 1000 * rank;
}

TEST(Windows, Fresh_AreZeroAndAligned) {
    run_as_threads(5, [](Bootstrap& bootstrap) {
        const auto windows = make_windows(bootstrap, bytes_of(bootstrap.rank()));
        for (int rank = 0; rank < 5; ++rank) {
            const std::byte* window = windows->of(rank);
            ASSERT_NE(window, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window) % 4096, 0U);
            EXPECT_TRUE(std::all_of(window, window + bytes_of(rank), [](std::byte b) {
                return b == std::byte{0};
            }));
        }
        bootstrap.barrier();
    });
}

TEST(Windows, WrittenByAPeer_IsReadByTheOwner) {
    for (const int ranks : {1, 2, 3, 8}) {
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            const auto windows = make_windows(bootstrap, 64);
            const int next = (bootstrap.rank() + 1) % ranks;
            std::memset(windows->of(next), bootstrap.rank() + 1, 64);
            bootstrap.barrier();
            const int previous = (bootstrap.rank() + ranks - 1) % ranks;
            EXPECT_EQ(windows->of(bootstrap.rank())[63], static_cast<std::byte>(previous + 1));
        });
    }
}

TEST(Windows, Several_DoNotOverlap) {
    run_as_threads(2, [](Bootstrap& bootstrap) {
        const auto first = make_windows(bootstrap, 4096), second = make_windows(bootstrap, 4096);
        std::memset(first->of(bootstrap.rank()), 1, 4096);
        std::memset(second->of(bootstrap.rank()), 2, 4096);
        bootstrap.barrier();
        for (int rank : {0, 1}) {
            EXPECT_EQ(first->of(rank)[4095], std::byte{1});
            EXPECT_EQ(second->of(rank)[0], std::byte{2});
        }
        bootstrap.barrier();
    });
}

/// A rank may still write to a peer that has left; the memory lives as long as its last user.
TEST(Windows, OwnerLeavesFirst_PeersMayStillUseIt) {
    run_as_threads(2, [](Bootstrap& bootstrap) {
        auto windows = make_windows(bootstrap, 4096);
        if (bootstrap.rank() == 0) windows.reset();
        bootstrap.barrier();
        if (bootstrap.rank() == 1) std::memset(windows->of(0), 7, 4096);
    });
}

/// A file of so many minutes ago.
std::filesystem::path make_name(const std::filesystem::path& path, int minutes) {
    std::ofstream{path} << "x";
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes{minutes}
    );
    return path;
}

TEST(Windows, NamesOfKilledRanks_AreRemoved_ThoseInUseAndOthersAreNot) {
    const auto folder = std::filesystem::temp_directory_path() / ("left_names." + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const auto left = make_name(folder / "ringscope.00ff", 11),
               in_use = make_name(folder / "ringscope.11ff", 9);
    const auto foreign = make_name(folder / "vader_segment.1", 600);
    std::filesystem::create_symlink(foreign, folder / "ringscope.link");
    remove_left_names(folder, std::chrono::minutes{10});
    EXPECT_FALSE(std::filesystem::exists(left));
    EXPECT_TRUE(std::filesystem::exists(in_use));
    EXPECT_TRUE(std::filesystem::exists(foreign));
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "ringscope.link"));
    std::filesystem::remove_all(folder);
    remove_left_names(folder, std::chrono::minutes{10});  // no such folder: nothing to do
}

}  // namespace
}  // namespace ringscope::transport
