// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "tests/effort.hpp"
#include "tests/verify/orders.hpp"
#include "verify/format.hpp"
#include "verify/verifier.hpp"

namespace ringscope::verify {
namespace {

using namespace orders;

const std::vector<DataType> dtypes =
    sanitized
        ? std::vector{DataType::float32, DataType::float16,     DataType::bfloat16,   DataType::uint64,
                      DataType::int8,    DataType::float8_e4m3, DataType::float8_e5m2}
        : std::vector{DataType::float32, DataType::float64, DataType::float16,     DataType::bfloat16,
                      DataType::int32,   DataType::int64,   DataType::uint8,       DataType::int8,
                      DataType::uint32,  DataType::uint64,  DataType::float8_e4m3, DataType::float8_e5m2};
constexpr std::array ops{ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg};
constexpr std::array modes{VerifyMode::exact, VerifyMode::mantissa, VerifyMode::real};
const std::vector<int> rank_counts =
    sanitized ? std::vector{1, 3, 5} : std::vector{1, 2, 3, 4, 5, 7, 8, 16, 64};
/// More than the tables are long, and no multiple of a block: every column is used.
constexpr std::int64_t long_count = 5 * 2048 + 77;

std::int64_t count_wrong(const Pattern& pattern, const Bytes& got, std::uint64_t seed) {
    return pattern.count_wrong(
        got.data(), static_cast<std::int64_t>(got.size()) / size_of(pattern.dtype()), seed
    );
}

Bytes expected_of(const Pattern& pattern, std::int64_t count, std::uint64_t seed) {
    Bytes expected(count * size_of(pattern.dtype()));
    pattern.fill_expected(expected.data(), count, seed);
    return expected;
}

// ---- Right results pass, in any order of summation ----

class PatternOf : public testing::TestWithParam<std::tuple<DataType, ReduceOp>> {};

TEST_P(PatternOf, AnyOrder_IsAccepted) {
    const auto [dtype, op] = GetParam();
    for (const VerifyMode mode : modes) {
        for (const int ranks : rank_counts) {
            const Pattern pattern{dtype, op, ranks, mode};
            const std::vector<Bytes> inputs = inputs_of(pattern, long_count, 7);
            EXPECT_EQ(count_wrong(pattern, reduce_in_ring_order(pattern, inputs), 7), 0) << ranks;
            EXPECT_EQ(count_wrong(pattern, reduce_in_tree_order(pattern, inputs), 7), 0) << ranks;
            EXPECT_EQ(count_wrong(pattern, reduce_in_rank_order(pattern, inputs), 7), 0) << ranks;
        }
    }
}

TEST_P(PatternOf, ExactModes_AllOrdersGiveTheSameBits) {
    const auto [dtype, op] = GetParam();
    for (const VerifyMode mode : {VerifyMode::exact, VerifyMode::mantissa}) {
        for (const int ranks : rank_counts) {
            const Pattern pattern{dtype, op, ranks, mode};
            const std::vector<Bytes> inputs = inputs_of(pattern, long_count, 7);
            const Bytes expected = expected_of(pattern, long_count, 7);
            EXPECT_EQ(reduce_in_ring_order(pattern, inputs), expected) << ranks;
            EXPECT_EQ(reduce_in_tree_order(pattern, inputs), expected) << ranks;
            EXPECT_EQ(reduce_in_rank_order(pattern, inputs), expected) << ranks;
        }
    }
}

// ---- Wrong results do not ----

/// The counts and ranks at which every mutant below must show.
struct Setting {
    int ranks;
    std::int64_t count;
};
constexpr std::array settings{Setting{2, 96}, Setting{3, 1023}, Setting{4, 6000}, Setting{8, long_count}};

template <class Mutate>
void expect_caught(DataType dtype, ReduceOp op, const char* name, Mutate&& mutate) {
    for (const VerifyMode mode : modes) {
        for (const Setting& setting : settings) {
            const Pattern pattern{dtype, op, setting.ranks, mode};
            std::vector<Bytes> inputs = inputs_of(pattern, setting.count, 41);
            Bytes result = reduce_in_ring_order(pattern, inputs);
            ASSERT_EQ(count_wrong(pattern, result, 41), 0);
            result = mutate(pattern, std::move(inputs), std::move(result), setting.count);
            EXPECT_GT(count_wrong(pattern, result, 41), 0)
                << name << ": " << name_of(dtype) << " " << name_of(op) << " mode " << static_cast<int>(mode)
                << " ranks " << setting.ranks << " count " << setting.count;
        }
    }
}

TEST_P(PatternOf, SwappedChunks_AreWrong) {
    expect_caught(
        std::get<0>(GetParam()), std::get<1>(GetParam()), "swap",
        [](auto& pattern, auto, auto result, auto) {
            const std::int64_t n = static_cast<std::int64_t>(pattern.contributors().size());
            const std::int64_t chunk = static_cast<std::int64_t>(result.size()) / n / 16 * 16;
            std::swap_ranges(result.begin(), result.begin() + chunk, result.begin() + chunk);
            return result;
        }
    );
}

TEST_P(PatternOf, LastElementNotWritten_IsWrong) {
    expect_caught(
        std::get<0>(GetParam()), std::get<1>(GetParam()), "drop",
        [](auto& pattern, auto, auto result, auto) {
            std::fill(result.end() - size_of(pattern.dtype()), result.end(), std::byte{0xff});
            return result;
        }
    );
}

TEST_P(PatternOf, RankLeftOut_IsWrong) {
    expect_caught(
        std::get<0>(GetParam()), std::get<1>(GetParam()), "missing",
        [](auto& pattern, auto inputs, auto, auto) {
            std::vector<const Bytes*> some;
            for (std::size_t k = 0; k + 1 < inputs.size(); ++k) some.push_back(&inputs[k]);
            return combine(pattern.dtype(), pattern.op(), some, static_cast<std::int32_t>(inputs.size()));
        }
    );
}

Bytes reduce_with_the_last_twice(const Pattern& pattern, const std::vector<Bytes>& inputs) {
    std::vector<const Bytes*> all{&inputs.back()};
    for (const Bytes& input : inputs) all.push_back(&input);
    return combine(pattern.dtype(), pattern.op(), all, static_cast<std::int32_t>(inputs.size()));
}

TEST_P(PatternOf, RankTwice_IsWrongUnlessTheOpIsIdempotent) {
    const auto [dtype, op] = GetParam();
    if (op == ReduceOp::min || op == ReduceOp::max) {
        const Pattern pattern{dtype, op, 3, VerifyMode::exact};
        EXPECT_EQ(
            count_wrong(pattern, reduce_with_the_last_twice(pattern, inputs_of(pattern, 999, 2)), 2), 0
        );
        return;
    }
    expect_caught(dtype, op, "twice", [](auto& pattern, auto inputs, auto, auto) {
        return reduce_with_the_last_twice(pattern, inputs);
    });
}

TEST_P(PatternOf, ResultOfAnotherSeed_IsWrong) {
    for (const std::uint64_t stale : {std::uint64_t{40}, std::uint64_t{39}, std::uint64_t{0}}) {
        expect_caught(
            std::get<0>(GetParam()), std::get<1>(GetParam()), "stale",
            [&](auto& pattern, auto, auto, auto count) { return expected_of(pattern, count, stale); }
        );
    }
}

TEST_P(PatternOf, ShiftedByOne_IsWrong) {
    expect_caught(
        std::get<0>(GetParam()), std::get<1>(GetParam()), "shift",
        [](auto& pattern, auto, auto result, auto) {
            std::rotate(result.begin(), result.begin() + size_of(pattern.dtype()), result.end());
            return result;
        }
    );
}

TEST_P(PatternOf, InputInsteadOfResult_IsWrong) {
    expect_caught(
        std::get<0>(GetParam()), std::get<1>(GetParam()), "input",
        [](auto&, auto inputs, auto, auto) { return inputs[0]; }
    );
}

TEST_P(PatternOf, OneFlippedBit_IsOneWrongElement) {
    const auto [dtype, op] = GetParam();
    for (const VerifyMode mode : {VerifyMode::exact, VerifyMode::mantissa}) {
        const Pattern pattern{dtype, op, 3, mode};
        const Bytes expected = expected_of(pattern, 5000, 3);
        for (std::size_t bit = 0; bit < 8 * expected.size(); bit += 4999) {
            Bytes flipped = expected;
            flipped[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
            ASSERT_EQ(count_wrong(pattern, flipped, 3), 1) << bit;
            const auto first = pattern.find_first_wrong(flipped.data(), 5000, 3);
            ASSERT_EQ(first->index, static_cast<std::int64_t>(bit / 8) / size_of(dtype));
            ASSERT_NE(first->expected, first->got);
        }
    }
}

TEST_P(PatternOf, PoisonAndZeros_AreWrong) {
    const auto [dtype, op] = GetParam();
    for (const VerifyMode mode : modes) {
        const Pattern pattern{dtype, op, 4, mode};
        const Bytes poison(long_count * size_of(dtype), std::byte{0xff}), zeros(poison.size());
        EXPECT_EQ(count_wrong(pattern, poison, 0), long_count);
        EXPECT_EQ(pattern.likely_cause(poison.data(), long_count, 0), "never written");
        if (mode != VerifyMode::real) {
            EXPECT_EQ(count_wrong(pattern, zeros, 0), long_count);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    AllTypesAndOps, PatternOf, testing::Combine(testing::ValuesIn(dtypes), testing::ValuesIn(ops)),
    [](const auto& parameters) {
        return std::string{name_of(std::get<0>(parameters.param))} + "_" +
               std::string{name_of(std::get<1>(parameters.param))};
    }
);

// ---- What the modes are for ----

/// Cuts a significand to fewer bits, to nearest, ties to even.
double cut(double value, int bits) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

/// Sums in rank order with an accumulator of `bits` bits.
template <class T>
Bytes sum_with_bits(const Pattern& pattern, std::int64_t count, int bits) {
    const std::vector<Bytes> inputs = inputs_of(pattern, count, 1);
    Bytes result(inputs[0].size());
    for (std::int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (const Bytes& input : inputs) sum = cut(sum + native(element_at<T>(input.data(), i)), bits);
        const T rounded = round_to<T>(sum);
        std::memcpy(&result[i * sizeof(T)], &rounded, sizeof(T));
    }
    return result;
}

template <class T>
class NarrowAccumulator : public testing::Test {};
using AllFloatTypes = testing::Types<float, double, Half, BFloat16, Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(NarrowAccumulator, AllFloatTypes);

template <class T>
constexpr DataType dtype_of = std::is_same_v<T, float>        ? DataType::float32
                              : std::is_same_v<T, double>     ? DataType::float64
                              : std::is_same_v<T, Half>       ? DataType::float16
                              : std::is_same_v<T, BFloat16>   ? DataType::bfloat16
                              : std::is_same_v<T, Float8E4M3> ? DataType::float8_e4m3
                                                              : DataType::float8_e5m2;

TYPED_TEST(NarrowAccumulator, OneBitShort_MantissaModeShowsItInEveryElement) {
    for (const int ranks : {2, 3, 8, 64}) {
        const Pattern pattern{dtype_of<TypeParam>, ReduceOp::sum, ranks, VerifyMode::mantissa};
        constexpr int bits = precision<TypeParam>;
        EXPECT_EQ(count_wrong(pattern, sum_with_bits<TypeParam>(pattern, long_count, bits), 1), 0) << ranks;
        EXPECT_EQ(
            count_wrong(pattern, sum_with_bits<TypeParam>(pattern, long_count, bits - 1), 1), long_count
        ) << ranks;
    }
}

template <class T>
class ManyRanks : public testing::Test {};
using FloatTypes = testing::Types<float, double, Half, BFloat16>;
TYPED_TEST_SUITE(ManyRanks, FloatTypes);

TYPED_TEST(ManyRanks, AccumulatorOneBitShort_ExactModeDoesNotShowIt) {
    const Pattern pattern{dtype_of<TypeParam>, ReduceOp::sum, 64, VerifyMode::exact};
    EXPECT_EQ(
        count_wrong(pattern, sum_with_bits<TypeParam>(pattern, long_count, precision<TypeParam> - 1), 1), 0
    );
}

TEST(PatternModes, Float32SummedInBFloat16_ShowsInMantissaMode) {
    for (const int ranks : {2, 8, 64}) {
        const Pattern pattern{DataType::float32, ReduceOp::sum, ranks, VerifyMode::mantissa};
        const Bytes narrow = sum_with_bits<float>(pattern, long_count, precision<BFloat16>);
        EXPECT_GT(count_wrong(pattern, narrow, 1), long_count * 9 / 10) << ranks;
    }
}

/// Adds in a chain in T, and one unit in the last place away from zero at each step.
template <class T>
Bytes sum_one_ulp_off(const Pattern& pattern, std::int64_t count, bool fault) {
    const std::vector<Bytes> inputs = inputs_of(pattern, count, 1);
    Bytes result = inputs[0];
    for (std::int64_t i = 0; i < count; ++i) {
        T sum = element_at<T>(inputs[0].data(), i);
        for (std::size_t k = 1; k < inputs.size(); ++k) {
            const auto exact =
                static_cast<long double>(native(sum)) + native(element_at<T>(inputs[k].data(), i));
            sum = round_to<T>(exact);
            if (!fault) continue;
            if constexpr (sizeof(T) == 2)
                ++sum.bits;
            else
                sum = std::nextafter(sum, static_cast<T>(sum > 0 ? INFINITY : -INFINITY));
        }
        std::memcpy(&result[i * sizeof(T)], &sum, sizeof(T));
    }
    return result;
}

template <class T>
class RealBound : public testing::Test {};
TYPED_TEST_SUITE(RealBound, FloatTypes);

TYPED_TEST(RealBound, OneUlpPerStepTooMuch_BreaksIt) {
    for (const int ranks : {2, 3, 4, 8, 16, 64}) {
        const Pattern pattern{dtype_of<TypeParam>, ReduceOp::sum, ranks, VerifyMode::real};
        EXPECT_EQ(count_wrong(pattern, sum_one_ulp_off<TypeParam>(pattern, long_count, false), 1), 0)
            << ranks;
        EXPECT_GT(count_wrong(pattern, sum_one_ulp_off<TypeParam>(pattern, long_count, true), 1), 0) << ranks;
    }
}

TEST(PatternModes, Float32SummedInHalf_BreaksTheRealBound) {
    for (const int ranks : {2, 8, 64}) {
        const Pattern pattern{DataType::float32, ReduceOp::sum, ranks, VerifyMode::real};
        const Bytes narrow = sum_with_bits<float>(pattern, long_count, precision<Half>);
        EXPECT_GT(count_wrong(pattern, narrow, 1), long_count / 2) << ranks;
    }
}

TEST(PatternModes, RankData_AreTheNumbersOfTheRanks) {
    const Pattern pattern{DataType::float32, ReduceOp::sum, 4, VerifyMode::rank};
    const std::vector<Bytes> inputs = inputs_of(pattern, 5000, 7);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        for (std::int64_t i = 0; i < 5000; ++i)
            ASSERT_EQ(element_at<float>(inputs[rank].data(), i), static_cast<float>(rank));
    }
    const auto result = [](DataType dtype, ReduceOp op, int ranks) {
        const Pattern numbers{dtype, op, ranks, VerifyMode::rank};
        Bytes out(static_cast<std::size_t>(size_of(dtype)));
        numbers.fill_expected(out.data(), 1, 0);
        return out;
    };
    // 0 + 1 = 1 of two devices; of four: 6, 0, 0, 3 and 1.5.
    EXPECT_EQ(element_at<float>(result(DataType::float32, ReduceOp::sum, 2).data(), 0), 1.0F);
    EXPECT_EQ(element_at<double>(result(DataType::float64, ReduceOp::sum, 4).data(), 0), 6.0);
    EXPECT_EQ(element_at<float>(result(DataType::float32, ReduceOp::prod, 4).data(), 0), 0.0F);
    EXPECT_EQ(element_at<float>(result(DataType::float32, ReduceOp::min, 4).data(), 0), 0.0F);
    EXPECT_EQ(element_at<float>(result(DataType::float32, ReduceOp::max, 4).data(), 0), 3.0F);
    EXPECT_EQ(element_at<float>(result(DataType::float32, ReduceOp::avg, 4).data(), 0), 1.5F);
    EXPECT_EQ(element_at<std::int8_t>(result(DataType::int8, ReduceOp::sum, 16).data(), 0), 120);
}

TEST(PatternModes, RankData_AreRefusedWhereTheTypeCannotHoldTheirSum) {
    EXPECT_THROW((Pattern{DataType::int8, ReduceOp::sum, 17, VerifyMode::rank}), Error);        // 136
    EXPECT_THROW((Pattern{DataType::float8_e5m2, ReduceOp::sum, 5, VerifyMode::rank}), Error);  // 10, 3 bits
    EXPECT_NO_THROW((Pattern{DataType::float8_e5m2, ReduceOp::sum, 4, VerifyMode::rank}));
}

TEST(PatternModes, RealData_CancelsBadly) {
    const Pattern pattern{DataType::float32, ReduceOp::sum, 5, VerifyMode::real};
    const std::vector<Bytes> inputs = inputs_of(pattern, 3000, 0);
    int cancelled = 0;
    for (std::int64_t i = 0; i < 3000; ++i) {
        double sum = 0, magnitudes = 0;
        for (const Bytes& input : inputs) {
            sum += element_at<float>(input.data(), i);
            magnitudes += std::fabs(element_at<float>(input.data(), i));
        }
        cancelled += std::fabs(sum) < 1e-6 * magnitudes;
    }
    EXPECT_GT(cancelled, 900);
}

// ---- The data ----

TEST(PatternData, ExactIntegers_StayWithinThePublishedLimits) {
    // floor(2^p / N) for N = 8: 2^21 for float32, 256 for float16, 32 for bfloat16, 2 and 1 for 8 bits.
    const std::vector<std::pair<DataType, double>> limits{
        {DataType::float32, 2097152},
        {DataType::float16, 256},
        {DataType::bfloat16, 32},
        {DataType::float8_e4m3, 2},
        {DataType::float8_e5m2, 1}};
    for (const auto& [dtype, limit] : limits) {
        const Pattern pattern{dtype, ReduceOp::sum, 8, VerifyMode::exact};
        const std::vector<Bytes> inputs = inputs_of(pattern, long_count, 0);
        double least = 0, most = 0;
        for (std::int64_t i = 0; i < long_count; ++i) {
            const double value = with_type(dtype, [&](auto type) {
                return static_cast<double>(native(element_at<decltype(type)>(inputs[3].data(), i)));
            });
            ASSERT_EQ(value, std::trunc(value));
            ASSERT_NE(value, 0);
            least = std::min(least, value);
            most = std::max(most, value);
        }
        EXPECT_LE(most, limit);
        EXPECT_GE(least, -limit);
        EXPECT_GT(most, 0.9 * limit);
        EXPECT_LT(least, -0.9 * limit);
    }
}

TEST(PatternData, RankIndexAndSeed_AllMatter) {
    for (const DataType dtype : dtypes) {
        const Pattern pattern{dtype, ReduceOp::sum, 3, VerifyMode::exact};
        std::set<std::uint64_t> distinct;
        for (const std::uint64_t seed : {0, 1, 2, 1000}) {
            for (const Bytes& input : inputs_of(pattern, 4096, seed)) {
                distinct.insert(hash_bytes(input.data(), static_cast<std::int64_t>(input.size())));
            }
        }
        EXPECT_EQ(distinct.size(), 12u) << name_of(dtype);
    }
}

TEST(PatternData, Blocks_OfOneMessageAreDistinct) {
    const Pattern pattern{DataType::uint8, ReduceOp::sum, 2, VerifyMode::exact};
    constexpr std::int64_t blocks = 8191;
    const Bytes message = expected_of(pattern, blocks * 2048, 5);
    std::set<std::string> beginnings;
    for (std::int64_t block = 0; block < blocks; ++block) {
        beginnings.emplace(reinterpret_cast<const char*>(message.data()) + block * 2048, 64);
    }
    EXPECT_EQ(beginnings.size(), 8191u);
}

TEST(PatternData, RankThatDoesNotContribute_GetsPoison) {
    const Pattern pattern{DataType::float32, ReduceOp::avg, {1, 3}, VerifyMode::exact};
    Bytes input(400);
    pattern.fill(input.data(), 0, 100, 9);
    EXPECT_EQ(input, Bytes(400, std::byte{0xff}));
    EXPECT_EQ(pattern.count_changed(input.data(), 0, 100, 9), 0);
    input[7] = std::byte{0};
    EXPECT_EQ(pattern.count_changed(input.data(), 0, 100, 9), 1);
    const std::vector<Bytes> inputs = inputs_of(pattern, 100, 9);
    EXPECT_EQ(count_wrong(pattern, reduce_in_rank_order(pattern, inputs), 9), 0);
}

TEST(PatternData, MoreRanksThanTheTypeCounts_StaysExact) {
    std::vector short_types{DataType::float8_e5m2, DataType::float8_e4m3, DataType::int8, DataType::bfloat16};
    if (sanitized) short_types.resize(1);
    for (const DataType dtype : short_types) {
        for (const ReduceOp op : ops) {
            const Pattern pattern{dtype, op, 300, VerifyMode::exact};
            const std::vector<Bytes> inputs = inputs_of(pattern, 2100, 9);
            EXPECT_EQ(count_wrong(pattern, reduce_in_ring_order(pattern, inputs), 9), 0)
                << name_of(dtype) << name_of(op);
            EXPECT_EQ(count_wrong(pattern, reduce_in_tree_order(pattern, inputs), 9), 0)
                << name_of(dtype) << name_of(op);
        }
    }
}

/// NCCL's way with floating point and N = 2^k: the terms times 1/N, then their sum.
TEST(PatternData, AverageByFactors_IsExactForPowersOfTwo) {
    for (const VerifyMode mode : {VerifyMode::exact, VerifyMode::mantissa}) {
        for (const int ranks : {2, 8, 64}) {
            const Pattern pattern{DataType::float8_e4m3, ReduceOp::avg, ranks, mode};
            std::vector<Bytes> inputs = inputs_of(pattern, long_count, 3);
            for (Bytes& input : inputs) {
                const Bytes whole = input;
                input = combine(DataType::float8_e4m3, ReduceOp::avg, {&whole}, ranks);
            }
            std::vector<const Bytes*> parts;
            for (const Bytes& input : inputs) parts.push_back(&input);
            EXPECT_EQ(count_wrong(pattern, combine(DataType::float8_e4m3, ReduceOp::sum, parts), 3), 0)
                << ranks;
        }
    }
}

TEST(PatternData, UnsignedAverage_UsesTheHighestBit) {
    const Pattern pattern{DataType::uint64, ReduceOp::avg, 2, VerifyMode::exact};
    const std::vector<Bytes> inputs = inputs_of(pattern, 2048, 0);
    const Bytes expected = expected_of(pattern, 2048, 0);
    int high = 0;
    for (std::int64_t i = 0; i < 2048; ++i) {
        const auto a = element_at<std::uint64_t>(inputs[0].data(), i);
        const auto b = element_at<std::uint64_t>(inputs[1].data(), i);
        ASSERT_GE(a + b, a) << "the sum stays within the type";
        high += (a + b) >> 63 != 0;
        ASSERT_EQ(element_at<std::uint64_t>(expected.data(), i), (a + b) / 2);
    }
    EXPECT_GT(high, 500);
}

TEST(PatternData, MinusZero_EqualsZero) {
    const Pattern pattern{DataType::bfloat16, ReduceOp::avg, 200, VerifyMode::mantissa};
    Bytes input = inputs_of(pattern, 2048, 0)[0];  // fewer bits than ranks: most terms are 0
    int zeros = 0;
    for (std::int64_t i = 0; i < 2048; ++i) {
        auto& low = input[2 * i];
        auto& high = input[2 * i + 1];
        EXPECT_NE(high, std::byte{0x80}) << "no negative zero is put in";
        if (low != std::byte{0} || high != std::byte{0}) continue;
        high = std::byte{0x80};
        ++zeros;
    }
    EXPECT_GT(zeros, 1000);
    EXPECT_EQ(pattern.count_changed(input.data(), 0, 2048, 0), 0);
}

TEST(PatternData, EmptyMessage_IsRight) {
    const Pattern pattern{DataType::float32, ReduceOp::sum, 2, VerifyMode::exact};
    pattern.fill(nullptr, 0, 0, 0);
    EXPECT_EQ(pattern.count_wrong(nullptr, 0, 0), 0);
    EXPECT_FALSE(pattern.find_first_wrong(nullptr, 0, 0));
    EXPECT_EQ(pattern.likely_cause(nullptr, 0, 0), "");
}

TEST(PatternData, NoContributors_IsAnError) {
    EXPECT_THROW((Pattern{DataType::float32, ReduceOp::sum, 0, VerifyMode::exact}), Error);
}

// ---- What is said about a fault ----

TEST(PatternCause, KnownFaults_AreNamed) {
    const Pattern pattern{DataType::float32, ReduceOp::sum, 4, VerifyMode::exact};
    const std::vector<Bytes> inputs = inputs_of(pattern, 500, 8);
    const auto cause = [&](const Bytes& got) { return pattern.likely_cause(got.data(), 500, 8); };
    const auto sum = [](const std::vector<const Bytes*>& from) {
        return orders::combine(DataType::float32, ReduceOp::sum, from);
    };
    EXPECT_EQ(cause(sum({&inputs[0], &inputs[1], &inputs[3]})), "rank 2 is missing");
    EXPECT_EQ(
        cause(sum({&inputs[0], &inputs[1], &inputs[1], &inputs[2], &inputs[3]})), "rank 1 is added twice"
    );
    EXPECT_EQ(cause(inputs[3]), "the input of rank 3");
    EXPECT_EQ(cause(expected_of(pattern, 500, 7)), "the result of seed 7");
    EXPECT_EQ(cause(Bytes(2000, std::byte{0x11})), "");
    EXPECT_EQ(cause(expected_of(pattern, 500, 8)), "");
}

TEST(PatternCause, Text_ShowsValueAndBits) {
    const Pattern pattern{DataType::float16, ReduceOp::max, 1, VerifyMode::exact};
    Bytes got = expected_of(pattern, 10, 0);
    got[8] = std::byte{0x00};
    got[9] = std::byte{0x3c};
    const auto wrong = pattern.find_first_wrong(got.data(), 10, 0);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->index, 4);
    EXPECT_EQ(wrong->got, "1 (0x3c00)");
}

}  // namespace
}  // namespace ringscope::verify
