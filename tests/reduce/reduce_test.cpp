// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "reduce/functors.hpp"
#include "reduce/table.hpp"
#include "tests/effort.hpp"

namespace ringscope::reduce {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
constexpr DataType dtype_of() {
    if constexpr (std::is_same_v<T, float>) return DataType::float32;
    if constexpr (std::is_same_v<T, double>) return DataType::float64;
    if constexpr (std::is_same_v<T, Half>) return DataType::float16;
    if constexpr (std::is_same_v<T, BFloat16>) return DataType::bfloat16;
    if constexpr (std::is_same_v<T, std::int32_t>) return DataType::int32;
    if constexpr (std::is_same_v<T, std::int64_t>) return DataType::int64;
    if constexpr (std::is_same_v<T, std::int8_t>) return DataType::int8;
    if constexpr (std::is_same_v<T, std::uint32_t>) return DataType::uint32;
    if constexpr (std::is_same_v<T, std::uint64_t>) return DataType::uint64;
    return DataType::uint8;
}

template <class T>
T make(double value) {
    if constexpr (std::is_same_v<T, Half>)
        return to_half(static_cast<float>(value));
    else if constexpr (std::is_same_v<T, BFloat16>)
        return to_bfloat16(static_cast<float>(value));
    else
        return static_cast<T>(value);
}

template <class T>
double read(T value) {
    return static_cast<double>(Element<T>::load(value));
}

/// Arrays at an offset that is aligned to the element and to nothing more.
template <class T>
struct Arrays {
    std::vector<std::vector<T>> values;
    Arrays(int arrays, std::int64_t count) : values(arrays, std::vector<T>(count + 1)) {}
    std::byte* bytes(int k) { return reinterpret_cast<std::byte*>(values[k].data() + 1); }
    std::vector<std::byte*> all() {
        std::vector<std::byte*> pointers;
        for (int k = 0; k < static_cast<int>(values.size()); ++k) pointers.push_back(bytes(k));
        return pointers;
    }
};

template <class T>
void apply(ReduceCopy f, Arrays<T>& from, Arrays<T>& to, std::int64_t count, std::int32_t divisor = 0) {
    const std::vector<std::byte*> sources = from.all(), destinations = to.all();
    f(const_cast<const std::byte* const*>(sources.data()), static_cast<int>(sources.size()),
      destinations.data(), static_cast<int>(destinations.size()), count, divisor);
}

/// One element of each source; both tables must agree.
template <class T>
T reduce_one(ReduceOp op, const std::vector<T>& operands, std::int32_t divisor = 0) {
    Arrays<T> from(static_cast<int>(operands.size()), 1), to(1, 1);
    for (std::size_t k = 0; k < operands.size(); ++k) from.values[k][1] = operands[k];
    apply(reduce_copy(dtype_of<T>(), op), from, to, 1, divisor);
    return to.values[0][1];
}

double reference(ReduceOp op, const std::vector<double>& operands) {
    double result = operands[0];
    for (std::size_t k = 1; k < operands.size(); ++k) {
        if (op == ReduceOp::sum || op == ReduceOp::avg) result += operands[k];
        if (op == ReduceOp::prod) result *= operands[k];
        if (op == ReduceOp::min) result = std::fmin(result, operands[k]);
        if (op == ReduceOp::max) result = std::fmax(result, operands[k]);
    }
    return op == ReduceOp::avg ? std::trunc(result / static_cast<double>(operands.size())) : result;
}

template <class T>
class ReduceCopyOf : public testing::Test {};
using Types = std::conditional_t<
    sanitized, testing::Types<float, Half, BFloat16, std::int32_t, std::uint64_t, std::int8_t>,
    testing::Types<
        float, double, Half, BFloat16, std::int32_t, std::int64_t, std::uint8_t, std::int8_t, std::uint32_t,
        std::uint64_t>>;
TYPED_TEST_SUITE(ReduceCopyOf, Types);

/// Small integers, for which every type is exact; the sums of avg are multiples of the number of sources.
double operand(ReduceOp op, int k, std::int64_t i, int sources) {
    if (op == ReduceOp::prod) return 1 + static_cast<double>((i + k) % 7 == 0);
    if (op == ReduceOp::avg) return sources * static_cast<double>((i + k) % 3);
    return static_cast<double>((5 * i + 3 * k) % 16);
}

template <class T>
void check_table_entry(ReduceCopy f, ReduceOp op, int sources, int destinations, std::int64_t count) {
    Arrays<T> from(sources, count), to(destinations, count + 1);
    for (int k = 0; k < sources; ++k) {
        for (std::int64_t i = 0; i < count; ++i) from.values[k][i + 1] = make<T>(operand(op, k, i, sources));
    }
    for (auto& array : to.values) array.back() = make<T>(99);
    apply(f, from, to, count, op == ReduceOp::avg ? sources : 0);
    for (std::int64_t i = 0; i < count; ++i) {
        std::vector<double> operands;
        for (int k = 0; k < sources; ++k) operands.push_back(operand(op, k, i, sources));
        for (int k = 0; k < destinations; ++k) {
            ASSERT_EQ(read(to.values[k][i + 1]), reference(op, operands))
                << name_of(op) << " sources " << sources << " destination " << k << " element " << i;
        }
    }
    for (const auto& array : to.values) ASSERT_EQ(read(array.back()), 99) << "written past the end";
}

TYPED_TEST(ReduceCopyOf, SourcesAndDestinations_EachShape_GivesTheReduction) {
    const auto dtype = static_cast<std::size_t>(dtype_of<TypeParam>());
    for (std::size_t op = 0; op < RINGSCOPE_REDUCTION_COUNT; ++op) {
        for (const int sources : sanitized ? std::vector{1, 3, 5} : std::vector{1, 2, 3, 4, 5, 7}) {
            for (const int destinations : sanitized ? std::vector{1, 3} : std::vector{1, 2, 3}) {
                for (const std::int64_t count : {0, 1, 7, 64, sanitized ? 1103 : 5003}) {
                    const auto chosen = static_cast<ReduceOp>(op);
                    check_table_entry<TypeParam>(
                        baseline_table[dtype][op], chosen, sources, destinations, count
                    );
                    const ReduceCopy widest = reduce_copy(dtype_of<TypeParam>(), chosen);
                    check_table_entry<TypeParam>(widest, chosen, sources, destinations, count);
                }
            }
        }
    }
}

TYPED_TEST(ReduceCopyOf, SourceIsDestination_AccumulatesInPlace) {
    constexpr std::int64_t count = 3001;
    for (const int sources : {2, 3, 4, 6}) {
        for (int target = 0; target < sources; ++target) {
            Arrays<TypeParam> from(sources, count), other(2, count);
            for (auto& array : from.values) array.assign(count + 1, make<TypeParam>(2));
            const std::vector<std::byte*> source_list = from.all();
            const std::vector<std::byte*> to{other.bytes(0), from.bytes(target), other.bytes(1)};
            reduce_copy(dtype_of<TypeParam>(), ReduceOp::sum)(
                const_cast<const std::byte* const*>(source_list.data()), sources, to.data(), 3, count, 0
            );
            for (std::int64_t i = 1; i <= count; ++i) {
                ASSERT_EQ(read(from.values[target][i]), 2 * sources);
                ASSERT_EQ(read(other.values[0][i]), 2 * sources);
                ASSERT_EQ(read(other.values[1][i]), 2 * sources);
            }
        }
    }
}

TYPED_TEST(ReduceCopyOf, OneSourceInPlace_StaysAsItIs) {
    Arrays<TypeParam> array(1, 10);
    array.values[0].assign(11, make<TypeParam>(6));
    apply(reduce_copy(dtype_of<TypeParam>(), ReduceOp::sum), array, array, 10);
    EXPECT_EQ(read(array.values[0][10]), 6);
    apply(reduce_copy(dtype_of<TypeParam>(), ReduceOp::avg), array, array, 10, 2);
    EXPECT_EQ(read(array.values[0][10]), 3) << "one source with a divisor divides";
}

TYPED_TEST(ReduceCopyOf, AvgWithoutDivisor_IsTheSum) {
    const std::vector<TypeParam> operands{make<TypeParam>(3), make<TypeParam>(4)};
    EXPECT_EQ(read(reduce_one(ReduceOp::avg, operands)), 7);
    EXPECT_EQ(read(reduce_one(ReduceOp::sum, operands, 2)), 7) << "only avg divides";
}

template <class T>
class FloatReduceCopyOf : public testing::Test {};
using FloatTypes = testing::Types<float, double, Half, BFloat16>;
TYPED_TEST_SUITE(FloatReduceCopyOf, FloatTypes);

TYPED_TEST(FloatReduceCopyOf, NaNAtAnyPlace_IsTheResultOfEveryOp) {
    for (std::size_t op = 0; op < RINGSCOPE_REDUCTION_COUNT; ++op) {
        for (const std::size_t sources : {2, 3, 4, 5, 6}) {
            for (std::size_t place = 0; place < sources; ++place) {
                std::vector<TypeParam> operands(sources, make<TypeParam>(1));
                operands[place] = make<TypeParam>(nan);
                EXPECT_TRUE(std::isnan(read(reduce_one(static_cast<ReduceOp>(op), operands, 2))))
                    << name_of(static_cast<ReduceOp>(op)) << " place " << place << " of " << sources;
            }
        }
    }
}

TYPED_TEST(FloatReduceCopyOf, Infinities_FollowIeee) {
    const TypeParam plus = make<TypeParam>(INFINITY), minus = make<TypeParam>(-INFINITY),
                    one = make<TypeParam>(1);
    EXPECT_TRUE(std::isnan(read(reduce_one<TypeParam>(ReduceOp::sum, {plus, minus}))));
    EXPECT_EQ(read(reduce_one<TypeParam>(ReduceOp::sum, {plus, one})), INFINITY);
    EXPECT_EQ(read(reduce_one<TypeParam>(ReduceOp::min, {plus, minus, one})), -INFINITY);
    EXPECT_EQ(read(reduce_one<TypeParam>(ReduceOp::max, {one, plus, minus})), INFINITY);
}

TYPED_TEST(FloatReduceCopyOf, LeastSubnormal_IsNotFlushed) {
    TypeParam least{};
    const std::uint8_t one = 1;
    std::memcpy(&least, &one, 1);
    ASSERT_GT(read(least), 0);
    EXPECT_EQ(read(reduce_one<TypeParam>(ReduceOp::sum, {least, least})), 2 * read(least));
    EXPECT_EQ(read(reduce_one<TypeParam>(ReduceOp::max, {least, make<TypeParam>(0)})), read(least));
}

TEST(ReduceCopy, HalfFanIn_RoundsOnce) {
    // Rounded after each addition, 2048 + 1 would stay 2048 twice.
    const std::vector<Half> operands{make<Half>(2048), make<Half>(1), make<Half>(1)};
    EXPECT_EQ(read(reduce_one(ReduceOp::sum, operands)), 2050);
    const std::vector<BFloat16> narrow{make<BFloat16>(256), make<BFloat16>(1), make<BFloat16>(1)};
    EXPECT_EQ(read(reduce_one(ReduceOp::sum, narrow)), 258);
    const std::vector<Half> large{make<Half>(65504), make<Half>(65504)};
    EXPECT_EQ(read(reduce_one(ReduceOp::sum, large)), INFINITY) << "a stored sum overflows";
    EXPECT_EQ(read(reduce_one(ReduceOp::avg, large, 2)), 65504)
        << "a sum that is divided in the same op does not";
}

TEST(ReduceCopy, FloatAvg_DividesAndDoesNotMultiplyByTheReciprocal) {
    EXPECT_EQ(reduce_one<float>(ReduceOp::avg, {4, 1}, 49), 5.0f / 49.0f);
    EXPECT_EQ(reduce_one<float>(ReduceOp::avg, {40, 1}, 41), 1.0f) << "41 * (1/41) is not 1 in float32";
}

TEST(ReduceCopy, IntegerAvg_TruncatesTowardZero) {
    EXPECT_EQ(reduce_one<std::int32_t>(ReduceOp::avg, {-3, -4}, 2), -3);
    EXPECT_EQ(reduce_one<std::int32_t>(ReduceOp::avg, {3, 4}, 2), 3);
    EXPECT_EQ(reduce_one<std::int64_t>(ReduceOp::avg, {-1, -1, 0}, 3), 0);
    EXPECT_EQ(reduce_one<std::uint8_t>(ReduceOp::avg, {200, 100}, 2), 22) << "the sum wraps: 44 / 2";
    EXPECT_EQ(reduce_one<std::uint8_t>(ReduceOp::avg, {200}, 256), 0) << "a divisor that uint8 cannot hold";
    EXPECT_EQ(reduce_one<std::int8_t>(ReduceOp::avg, {-3, -4}, 2), -3);
    EXPECT_EQ(reduce_one<std::int8_t>(ReduceOp::avg, {-100}, 200), 0) << "a divisor that int8 cannot hold";
    EXPECT_EQ(reduce_one<std::uint32_t>(ReduceOp::avg, {0xfffffffe, 1}, 2), 0x7fffffffu) << "no sign";
    EXPECT_EQ(reduce_one<std::uint64_t>(ReduceOp::avg, {~std::uint64_t{0}}, 5), 0x3333333333333333u);
}

TEST(ReduceCopy, IntegerOverflow_Wraps) {
    constexpr auto most32 = std::numeric_limits<std::int32_t>::max();
    constexpr auto most64 = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(reduce_one<std::int32_t>(ReduceOp::sum, {most32, 1}), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(reduce_one<std::int64_t>(ReduceOp::sum, {most64, 1}), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(reduce_one<std::int32_t>(ReduceOp::prod, {most32, 2}), -2);
    EXPECT_EQ(reduce_one<std::int64_t>(ReduceOp::prod, {most64, 2}), -2);
    EXPECT_EQ(reduce_one<std::uint8_t>(ReduceOp::sum, {255, 2}), 1);
    EXPECT_EQ(reduce_one<std::uint8_t>(ReduceOp::prod, {16, 17}), 16);
    EXPECT_EQ(reduce_one<std::int8_t>(ReduceOp::sum, {127, 1}), -128);
    EXPECT_EQ(reduce_one<std::int8_t>(ReduceOp::prod, {-128, -1}), -128);
    EXPECT_EQ(reduce_one<std::uint32_t>(ReduceOp::sum, {0xffffffff, 2}), 1u);
    EXPECT_EQ(reduce_one<std::uint64_t>(ReduceOp::prod, {std::uint64_t{1} << 63, 3}), std::uint64_t{1} << 63);
}

TEST(ReduceCopy, HighestBit_IsASignOnlyInSignedTypes) {
    EXPECT_EQ(reduce_one<std::int8_t>(ReduceOp::max, {-128, 127}), 127);
    EXPECT_EQ(reduce_one<std::uint32_t>(ReduceOp::max, {0x80000000, 1}), 0x80000000u);
    EXPECT_EQ(reduce_one<std::uint64_t>(ReduceOp::min, {std::uint64_t{1} << 63, 1}), 1u);
}

TEST(ReduceCopy, TypesThatItHas_HaveEveryOperationAndTheOthersNone) {
    for (int type = 0; type < RINGSCOPE_DTYPE_COUNT; ++type) {
        const auto dtype = static_cast<DataType>(type);
        for (int op = 0; op < RINGSCOPE_REDUCTION_COUNT; ++op) {
            EXPECT_EQ(reduce_copy(dtype, static_cast<ReduceOp>(op)) != nullptr, has(dtype)) << name_of(dtype);
        }
    }
    EXPECT_FALSE(has(DataType::float8_e4m3));
    EXPECT_FALSE(has(DataType::float8_e5m2));
    EXPECT_TRUE(has(DataType::uint64));
}

TEST(Functors, Constexpr_CompileTimeValues) {
    static_assert(Sum::combine<std::uint8_t>(250, 10) == 4);
    static_assert(Min::combine(-1, 1) == -1 && Max::combine(-1, 1) == 1);
    static_assert(Divide<std::int32_t>{2}.store(-7) == -3);
    static_assert(to_half(1.0f).bits == 0x3c00 && to_bfloat16(1.0f).bits == 0x3f80);
}

}  // namespace
}  // namespace ringscope::reduce
