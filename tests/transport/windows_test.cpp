// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

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

}  // namespace
}  // namespace ringscope::transport
