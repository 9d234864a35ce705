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
    for (std::int64_t i = 0; i < 1000; ++i) {
        result.events.push_back(
            {.op = i, .direction = trace::Direction::recv, .peer = 3, .payload_bytes = -i, .end_ns = i}
        );
    }
    result.events_dropped = 9;
    result.wrong = 10;
    result.what = std::string{"rank 3: a\nb\0c", 13};

    const RankResult other = unpack(pack(result));
    ASSERT_EQ(other.samples.size(), 1U);
    EXPECT_EQ(other.samples[0].state, trace::SampleState::late_start);
    EXPECT_TRUE(other.samples[0].traced);
    EXPECT_EQ(other.samples[0].device_ns, 8);
    EXPECT_EQ(other.hashes, result.hashes);
    ASSERT_EQ(other.events.size(), 1000U);
    EXPECT_EQ(other.events[999].payload_bytes, -999);
    EXPECT_EQ(other.events[999].direction, trace::Direction::recv);
    EXPECT_EQ(other.events[999].end_ns, 999);
    EXPECT_EQ(other.events_dropped, 9);
    EXPECT_EQ(other.wrong, 10);
    EXPECT_EQ(other.what, result.what);
}

TEST(RankResult, Empty_StaysEmpty) {
    const RankResult other = unpack(pack({}));
    EXPECT_TRUE(other.samples.empty() && other.hashes.empty() && other.events.empty() && other.what.empty());
    EXPECT_EQ(other.wrong, 0);
}

}  // namespace
}  // namespace ringscope::bench
