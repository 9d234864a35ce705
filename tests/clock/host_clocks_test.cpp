// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/host_clocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ringscope::clock {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;

/// Ranks as threads, the clock of each ahead of rank 0's by so much.
std::vector<std::vector<HostClock>> measured(const std::vector<std::int64_t>& ahead_ns) {
    std::vector<std::vector<HostClock>> at_rank(ahead_ns.size());
    run_as_threads(static_cast<int>(ahead_ns.size()), [&](Bootstrap& bootstrap) {
        const auto rank = static_cast<std::size_t>(bootstrap.rank());
        const HostClockOptions options{
            .rounds = 200, .clock = [ahead = ahead_ns[rank]] { return now_ns() + ahead; }};
        at_rank[rank] = measure_host_clocks(bootstrap, options);
    });
    return at_rank;
}

TEST(HostClocks, OneClock_HasOffsetZero) {
    const auto at_rank = measured({0, 0, 0, 0, 0});
    for (const std::vector<HostClock>& clocks : at_rank) {
        ASSERT_EQ(clocks.size(), 5U);
        for (const HostClock& clock : clocks) EXPECT_EQ(clock.offset_ns, 0);
    }
    EXPECT_EQ(at_rank[0][0].error_ns, 0);
    EXPECT_GT(at_rank[0][1].error_ns, 0);
    EXPECT_EQ(at_rank[0][4].exchanges.size(), 200U);
}

/// As `unshare --time --monotonic 1000` makes it.
TEST(HostClocks, ClockOfItsOwn_IsAlignedWithinItsError) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::vector<std::int64_t> ahead{0, 1000 * second, 0, -7 * second};
    for (const std::vector<HostClock>& clocks : measured(ahead)) {
        for (std::size_t rank = 0; rank < ahead.size(); ++rank)
            EXPECT_LE(std::abs(clocks[rank].offset_ns - ahead[rank]), clocks[rank].error_ns) << rank;
        EXPECT_EQ(clocks[2].offset_ns, 0);
    }
}

TEST(HostClocks, SingleRank_HasItsOwn) {
    EXPECT_EQ(measured({0})[0][0].offset_ns, 0);
}

}  // namespace
}  // namespace ringscope::clock
