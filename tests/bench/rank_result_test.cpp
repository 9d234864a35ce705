// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/rank_result.hpp"

#include <gtest/gtest.h>

namespace ringscope::bench {
namespace {

TEST(RankResult, PackedAndUnpacked_IsTheSame) {
    RankResult result;
    result.samples.push_back(
        {.case_index = 1,
         .iteration = 2,
         .rank = 3,
         .state = trace::SampleState::late_start,
         .traced = true,
         .ops = 5,
         .enter_ns = 6,
         .exit_ns = 7,
         .device_ns = 8}
    );
    result.hashes = {0xFFFF'FFFF'FFFF'FFFF, 0, 42};
    result.clock_error_ns = 7;
    result.traced_ops = 8;
    result.events_kept = 11;
    result.waited_ns = 12.5;
    result.events_dropped = 9;
    result.wrong = 10;
    result.what = std::string{"rank 3: a\nb\0c", 13};

    result.health = {{.case_index = 1, .rank = 3, .device = "0000:17:00.0"}, {.device = "host"}};

    const RankResult other = unpack(pack(result));
    ASSERT_EQ(other.samples.size(), 1U);
    EXPECT_EQ(other.samples[0].state, trace::SampleState::late_start);
    EXPECT_TRUE(other.samples[0].traced);
    EXPECT_EQ(other.samples[0].device_ns, 8);
    EXPECT_EQ(other.hashes, result.hashes);
    EXPECT_EQ(other.clock_error_ns, 7);
    EXPECT_EQ(other.traced_ops, 8);
    EXPECT_EQ(other.events_kept, 11);
    EXPECT_EQ(other.waited_ns, 12.5);
    EXPECT_EQ(other.events_dropped, 9);
    EXPECT_EQ(other.wrong, 10);
    EXPECT_EQ(other.what, result.what);
    ASSERT_EQ(other.health.size(), 2U);
    EXPECT_EQ(other.health[0].rank, 3);
    EXPECT_EQ(other.health[0].device, "0000:17:00.0");
    EXPECT_EQ(other.health[1].device, "host");
}

TEST(RankResult, Empty_StaysEmpty) {
    const RankResult other = unpack(pack({}));
    EXPECT_TRUE(other.samples.empty() && other.hashes.empty() && other.what.empty());
    EXPECT_EQ(other.wrong, 0);
}

}  // namespace
}  // namespace ringscope::bench
