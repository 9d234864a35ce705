// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(Memory, Available_IsSomeOfThisMachine) {
    EXPECT_GT(available_memory(), std::int64_t{1} << 20);
    EXPECT_LT(available_memory(), std::int64_t{1} << 50);
}

}  // namespace
}  // namespace ringscope::bench
