// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "verify/pattern.hpp"

namespace ringscope::verify {
namespace {

// Published outputs of splitmix64, seeds 0 and 1.
static_assert(mix(0) == 0xe220a8397b1dcdafu);
static_assert(mix(1) == 0x910a2dec89025cc1u);

TEST(window, FirstBlocksAndSeeds_AreMultiplesOfTheSteps) {
    EXPECT_EQ(window_of(0, 0), 0);
    EXPECT_EQ(window_of(1, 0), 5113);
    EXPECT_EQ(window_of(2, 0), 2 * 5113 - 8191);
    EXPECT_EQ(window_of(0, 1), 4186);
    EXPECT_EQ(window_of(1, 1), 5113 + 4186 - 8191);
}

TEST(window, SecondRound_IsShiftedAtRandom) {
    EXPECT_EQ(window_of(8191, 0), static_cast<std::int64_t>(0x910a2dec89025cc1u % 8191));
}

TEST(window, HugeSeed_CountsModuloTheTable) {
    EXPECT_EQ(window_of(3, ~std::uint64_t{0}), window_of(3, ~std::uint64_t{0} % 8191));
}

TEST(window, PreviousSeed_IsRightFarAwayOnly) {
    EXPECT_EQ(window_of(4001, 0), window_of(0, 1));
    for (std::int64_t block = 0; block < 4001; ++block) EXPECT_NE(window_of(block, 0), window_of(0, 1));
}

TEST(window, BlocksAndSeeds_DifferWithinARound) {
    std::set<std::int64_t> of_blocks, of_seeds;
    for (std::int64_t i = 0; i < table_length; ++i) {
        of_blocks.insert(window_of(i, 7));
        of_seeds.insert(window_of(7, static_cast<std::uint64_t>(i)));
    }
    EXPECT_EQ(of_blocks.size(), 8191u);
    EXPECT_EQ(of_seeds.size(), 8191u);
}

// ---- A message is made of windows into the tables that a Pattern gives away ----

using Bytes = std::vector<std::byte>;

Bytes put_together(
    std::span<const std::byte> table, std::int64_t count, std::int64_t size, std::uint64_t seed
) {
    Bytes message;
    for (std::int64_t first = 0; first < count; first += block_length) {
        const std::int64_t elements = std::min(block_length, count - first);
        const auto window = table.subspan(
            static_cast<std::size_t>(window_of(first / block_length, seed) * size),
            static_cast<std::size_t>(elements * size)
        );
        message.insert(message.end(), window.begin(), window.end());
    }
    return message;
}

TEST(tables, InputAndExpected_GiveTheMessagesOfThePattern) {
    constexpr std::int64_t count = 9 * 2048 + 5;
    for (const DataType dtype : {DataType::uint8, DataType::float16, DataType::float32, DataType::float64}) {
        const std::int64_t size = size_of(dtype);
        const Pattern pattern{dtype, ReduceOp::sum, 3, VerifyMode::exact};
        Bytes input(static_cast<std::size_t>(count * size)), expected = input;
        pattern.fill(input.data(), 2, count, 41);
        pattern.fill_expected(expected.data(), count, 41);
        EXPECT_EQ(input, put_together(pattern.input_table(2), count, size, 41)) << name_of(dtype);
        EXPECT_EQ(expected, put_together(pattern.expected_table(), count, size, 41)) << name_of(dtype);
    }
}

TEST(tables, RankThatDoesNotContribute_HasNone) {
    const Pattern pattern{DataType::float32, ReduceOp::sum, std::vector{0, 2}, VerifyMode::exact};
    EXPECT_TRUE(pattern.input_table(1).empty());
    EXPECT_FALSE(pattern.input_table(2).empty());
}

}  // namespace
}  // namespace ringscope::verify
