// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/host_clocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace ringscope::clock {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;

/// Ranks as threads, the clock of each ahead of rank 0's by so much; what rank 0 has of them.
std::vector<Comparison> measured(const std::vector<std::int64_t>& ahead_ns) {
    std::vector<Comparison> at_first;
    run_as_threads(static_cast<int>(ahead_ns.size()), [&](Bootstrap& bootstrap) {
        const auto rank = static_cast<std::size_t>(bootstrap.rank());
        const HostClockOptions options{
            .rounds = 200, .clock = [ahead = ahead_ns[rank]] { return now_ns() + ahead; }};
        std::vector<Comparison> comparisons = compare_on_hosts(bootstrap, options);
        if (rank == 0) {
            at_first = std::move(comparisons);
        } else {
            EXPECT_TRUE(comparisons.empty());
        }
    });
    return at_first;
}

TEST(HostClocks, OneClock_HasOffsetZero) {
    const std::vector<Comparison> comparisons = measured({0, 0, 0, 0, 0});
    ASSERT_EQ(comparisons.size(), 4U);
    for (const Comparison& comparison : comparisons) {
        EXPECT_EQ(comparison.peer, 0);
        EXPECT_EQ(comparison.line.offset_ns, 0);
        EXPECT_GT(comparison.line.error_ns, 0);
        EXPECT_EQ(comparison.exchanges.size(), 200U);
    }
}

/// As `unshare --time --monotonic 1000` makes it.
TEST(HostClocks, ClockOfItsOwn_IsAlignedWithinItsError) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::vector<std::int64_t> ahead{0, 1000 * second, 0, -7 * second};
    const std::vector<Comparison> comparisons = measured(ahead);
    ASSERT_EQ(comparisons.size(), 3U);
    for (const Comparison& comparison : comparisons) {
        const std::int64_t truth = ahead[static_cast<std::size_t>(comparison.rank)];
        EXPECT_LE(std::abs(comparison.line.offset_ns - truth), comparison.line.error_ns) << comparison.rank;
    }
    EXPECT_EQ(comparisons[1].line.offset_ns, 0);
}

TEST(HostClocks, SingleRank_HasNobodyToAsk) {
    EXPECT_TRUE(measured({0}).empty());
}

}  // namespace
}  // namespace ringscope::clock
