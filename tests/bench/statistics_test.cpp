// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "bench/memory.hpp"

namespace ringscope::bench {
namespace {

TEST(Statistics, Median_OfOddEvenAndNothing) {
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median({7}), 7);
    EXPECT_EQ(median({1, 1, 1, 1e9}), 1);
    EXPECT_TRUE(std::isnan(median({})));
}

/// Ranks l and u of n sorted values, as tables of the binomial distribution give them.
TEST(Statistics, MedianInterval_IsThatOfTheTables) {
    const std::vector<std::array<int, 3>> table{
        {6, 1, 6},    {8, 1, 8},     {10, 2, 9},     {15, 4, 12},     {20, 6, 15},     {30, 10, 21},
        {50, 18, 33}, {100, 40, 61}, {200, 86, 115}, {500, 228, 273}, {1000, 469, 532}};
    for (const auto& [n, low, high] : table) {
        std::vector<double> values(static_cast<std::size_t>(n));
        std::iota(values.rbegin(), values.rend(), 1);
        const Interval interval = median_interval(values);
        EXPECT_EQ(interval.low, low) << n;
        EXPECT_EQ(interval.high, high) << n;
    }
    EXPECT_TRUE(std::isnan(median_interval({1, 2, 3, 4, 5}).low)) << "five values have none";
}

TEST(Statistics, Quantile_IsTheNearestRank) {
    std::vector<double> values(200);
    std::iota(values.begin(), values.end(), 1);
    EXPECT_EQ(quantile(values, 0.99), 198);
    EXPECT_EQ(quantile(values, 0.5), 100);
    EXPECT_EQ(quantile({3, 1, 2}, 0.99), 3);
    EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Memory, Available_IsSomeOfThisMachine) {
    EXPECT_GT(available_memory(), std::int64_t{1} << 20);
    EXPECT_LT(available_memory(), std::int64_t{1} << 50);
}

}  // namespace
}  // namespace ringscope::bench
