// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/effort.hpp"
#include "tests/engine/sums.hpp"

namespace ringscope::engine::host {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;
using testing::IsEmpty;

/// Two lines of 120 bytes of payload in each slot.
constexpr Layout layout{.slots = 3, .slot_bytes = 256, .channels = 1};

/// Elements of the operations: from a part of a line to several full slots.
constexpr std::array<std::int64_t, 6> counts{256, 4, 17, 60, 61, 8};

std::vector<schedule::Plan> plans_of(int ranks, const Layout& slots) {
    std::vector<schedule::Plan> plans;
    for (const std::int64_t count : counts) plans.push_back(plan_of("ring-ll128", ranks, 4 * count, slots));
    return plans;
}

/// Ranks that had a wrong sum.
std::vector<std::string> play_series(int ranks, std::int64_t operations, std::uint64_t history) {
    const std::vector<schedule::Plan> plans = plans_of(ranks, layout);
    Control control{};
    Faults faults;
    run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        Sums<LowLatency128> sums{bootstrap, control, plans, 20'000'000'000};
        sums.pretend_history(history);
        bootstrap.barrier();
        NoProbe none;
        for (std::int64_t i = 0; i < operations; ++i) {
            const auto which = static_cast<std::size_t>(i * 7 / 3) % counts.size();
            if (!sums.operate(which, counts[which], i, none))
                faults.add("operation " + std::to_string(i) + " on " + std::to_string(bootstrap.rank()));
        }
        bootstrap.barrier();
    });
    return faults.texts();
}

/// Numbers of messages past 32 bits: a flag has 64.
TEST(LowLatency128, LongSeries_IsExactWhateverTheNumbers) {
    for (const std::uint64_t history : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 8}) {
        for (const int ranks : {2, 3})
            EXPECT_THAT(play_series(ranks, sanitized ? 300 : 10'000, history), IsEmpty()) << history;
    }
}

/// 64 elements of 4 bytes on 2 ranks: chunks of 128 bytes, which are a line and 8 bytes of a second one.
TEST(LowLatency128, Lines_CarryPayloadThenTheNumberOfTheMessage) {
    const std::vector<schedule::Plan> plans{plan_of("ring-ll128", 2, 4 * 64, layout)};
    Control control{};
    run_as_threads(2, [&](Bootstrap& bootstrap) {
        Sums<LowLatency128> sums{bootstrap, control, plans, 10'000'000'000};
        std::vector<std::array<std::uint32_t, 32>> lines;
        struct Probe : NoProbe {
            std::vector<std::array<std::uint32_t, 32>>* lines = nullptr;
            void stored(const void* address, std::int64_t bytes) {
                ASSERT_EQ(bytes, 128);
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % 128, 0U);
                std::memcpy(lines->emplace_back().data(), address, 128);
            }
        } probe;
        probe.lines = &lines;
        EXPECT_TRUE(sums.operate(0, 64, 0, probe));
        ASSERT_EQ(lines.size(), 4U);
        const std::int64_t sent = 32 * (1 - bootstrap.rank());
        for (std::size_t i = 0; i < 30; ++i)
            EXPECT_EQ(lines[0][i], element_of(bootstrap.rank(), 0, sent + static_cast<std::int64_t>(i)));
        for (std::size_t i = 0; i < 2; ++i)
            EXPECT_EQ(lines[1][i], element_of(bootstrap.rank(), 0, sent + 30 + static_cast<std::int64_t>(i)));
        for (std::size_t i = 2; i < 30; ++i) EXPECT_EQ(lines[1][i], 0U);
        for (std::size_t line = 0; line < 4; ++line) {
            EXPECT_EQ(lines[line][30], 1 + line / 2);
            EXPECT_EQ(lines[line][31], 0U);
        }
        bootstrap.barrier();
    });
}

/// Rank 0 stops after it has announced a line, until rank 1 is done or a while has passed.
template <class Link>
bool announced_lines_are_wrong() {
    const std::vector<schedule::Plan> plans{plan_of("ring-ll128", 2, 4 * 60, layout)};
    Control control{};
    std::atomic<bool> wrong{false}, peer_done{false};
    run_as_threads(2, [&](Bootstrap& bootstrap) {
        Sums<Link> sums{bootstrap, control, plans, 10'000'000'000};
        HesitatingProbe probe{peer_done, bootstrap.rank() == 0, 1};
        if (!sums.operate(0, 60, 0, probe)) wrong = true;
        if (bootstrap.rank() == 1) peer_done = true;
        bootstrap.barrier();
    });
    return wrong;
}

TEST(LowLatency128, FlagStoredLast_TheReaderWaits) {
    EXPECT_FALSE(announced_lines_are_wrong<LowLatency128>());
}

// The thread sanitizer ends this one with a report, which engine.planted_race_ll128 demands.
#if !defined(__SANITIZE_THREAD__)
TEST(LowLatency128, FlagStoredFirst_GivesAWrongSum) {
    EXPECT_TRUE(announced_lines_are_wrong<BasicLowLatency128<false>>());
}
#endif

/// A slot that is not of whole lines is cut to them; the slots that follow stay aligned.
TEST(LowLatency128, SlotsOfOddSize_HoldWholeLines) {
    EXPECT_EQ(plan_of("ring-ll128", 2, 4096, {.slots = 3, .slot_bytes = 400}).request.slot_bytes, 384);
}

}  // namespace
}  // namespace ringscope::engine::host
