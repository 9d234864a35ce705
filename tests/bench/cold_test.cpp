// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/cold.hpp"

namespace ringscope::bench {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using trace::SampleState;

trace::SampleRow sample(SampleState state, std::int64_t ns, std::int64_t ops = 1, bool traced = false) {
    return {.state = state, .traced = traced, .ops = ops, .enter_ns = 5000, .exit_ns = 5000 + ns};
}

RankResult rank_with(std::vector<trace::SampleRow> samples) {
    RankResult result;
    result.samples = std::move(samples);
    return result;
}

TEST(Cold, FirstSampleAndMedianOfThoseThatCount) {
    const RankResult rank = rank_with(
        {sample(SampleState::cold, 900), sample(SampleState::warmup, 70), sample(SampleState::ok, 40),
         sample(SampleState::ok, 20), sample(SampleState::ok, 300, 10), sample(SampleState::late_start, 1000),
         sample(SampleState::ok, 5, 1, true)}
    );
    const auto rows = cold_rows(7, {rank, rank});
    ASSERT_THAT(rows, SizeIs(4));
    EXPECT_EQ(rows[0].phase, "first_collective");
    EXPECT_EQ(rows[0].ns, 900);
    EXPECT_EQ(rows[1].phase, "steady_state");
    EXPECT_EQ(rows[1].ns, 30) << "of 20, 30 and 40: ten operations in 300 ns are 30 each";
    EXPECT_EQ(rows[1].case_index, 7);
    EXPECT_EQ(rows[1].rank, 0);
    EXPECT_EQ(rows[3].rank, 1);
}

TEST(Cold, PhasesThatACaseDoesNotHave_HaveNoRow) {
    EXPECT_THAT(cold_rows(0, {rank_with({})}), IsEmpty());
    const auto rows =
        cold_rows(0, {rank_with({sample(SampleState::warmup, 70), sample(SampleState::ok, 40)})});
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(rows[0].phase, "steady_state");
    EXPECT_THAT(cold_rows(0, {rank_with({sample(SampleState::late_start, 70)})}), IsEmpty());
}

}  // namespace
}  // namespace ringscope::bench
