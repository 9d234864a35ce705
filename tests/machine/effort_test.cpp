// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/effort.hpp"

namespace ringscope::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A byte takes a nanosecond, and all pairs together 100 ms.
Task task_of(std::int64_t ranks) {
    return {.ranks = ranks, .sizes = {1000, 100'000, 1'000'000}, .bytes_per_ns = 1, .budget_ns = 100'000'000};
}

/// Two pairs: 50 ms each, half of it for large sizes. 1 MB takes 4 x 1 ms of the 25.
TEST(Effort, TaskWithinItsBudget_IsDoneInFull) {
    const Effort effort = cut_to_budget(task_of(2));
    EXPECT_THAT(effort.sizes, ElementsAre(1000, 100'000, 1'000'000));
    EXPECT_EQ(effort.left_out, "");
    EXPECT_EQ(effort.size_ns, 25'000'000 / 3);
}

/// 20 pairs: 5 ms each. 1 MB takes 4 ms of the 2.5; 100 kB take 0.4.
TEST(Effort, TaskBeyondItsBudget_LosesItsLargeSizes) {
    const Effort effort = cut_to_budget(task_of(5));
    EXPECT_THAT(effort.sizes, ElementsAre(1000, 100'000));
    EXPECT_THAT(effort.left_out, HasSubstr("sizes above 100000 bytes, for 20 ordered pairs have 100 ms"));
}

/// 32 ranks are 992 pairs, 33 are 1056, 200 are 39800.
TEST(Effort, MoreThanAThousandPairs_AreNotMeasured) {
    EXPECT_THAT(cut_to_budget(task_of(32)).sizes, ElementsAre(1000));
    for (const std::int64_t ranks : {33, 200}) {
        const Effort effort = cut_to_budget(task_of(ranks));
        EXPECT_THAT(effort.sizes, IsEmpty());
        EXPECT_THAT(effort.left_out, HasSubstr(std::to_string(ranks * (ranks - 1)) + " ordered pairs"));
    }
}

TEST(Effort, OneRank_HasNoPairs) {
    const Effort effort = cut_to_budget(task_of(1));
    EXPECT_THAT(effort.sizes, IsEmpty());
    EXPECT_EQ(effort.left_out, "");
}

/// A pass takes 10 ns, and the clock counts in steps of 1000.
TEST(Shortest, BatchesAreAsLongAsAsked) {
    std::vector<std::int64_t> asked;
    const auto timed = [&](std::int64_t passes) {
        asked.push_back(passes);
        return passes * 10 / 1000 * 1000;
    };
    EXPECT_NEAR(shortest_ns(timed, 10'000, 10'000), 10, 1);
    EXPECT_EQ(asked.back(), 1024) << "the first power of two that makes 10 us";
    EXPECT_EQ(std::ranges::count(asked, 1024), 1 + 3) << "one that ends the warm-up, three that count";
}

TEST(Shortest, IsTheBestBatch_AndGoesOnUntilTheTimeIsUp) {
    std::int64_t batch = 0;
    const auto timed = [&](std::int64_t) { return ++batch == 7 ? std::int64_t{300} : std::int64_t{1000}; };
    EXPECT_DOUBLE_EQ(shortest_ns(timed, 1, 9'000), 300);
    EXPECT_EQ(batch, 1 + 10) << "a warm-up, nine of 1000 ns and one of 300";
}

TEST(Shortest, BatchThatTakesFarTooLong_IsNotRepeated) {
    int batches = 0;
    const auto timed = [&](std::int64_t) {
        ++batches;
        return std::int64_t{1'000'000};
    };
    EXPECT_DOUBLE_EQ(shortest_ns(timed, 1, 1000), 1'000'000);
    EXPECT_EQ(batches, 1 + 1) << "a warm-up and the batch";
}

TEST(Shortest, WorkThatTakesNoTime_Ends) {
    EXPECT_GT(shortest_ns([](std::int64_t) { return std::int64_t{0}; }, 1000, 0), 0);
}

TEST(Rate, IsInBytesPerSecond) {
    EXPECT_DOUBLE_EQ(rate_of(1000, 10), 1e11);
}

}  // namespace
}  // namespace ringscope::machine
