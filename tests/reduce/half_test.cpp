// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace ringscope::reduce {
namespace {

/// The value of a binary float of 16 bits by the definition of IEEE 754, without a conversion of ours.
double value_of(unsigned bits, int mantissa_bits) {
    const int exponent_bits = 15 - mantissa_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>((bits & 0x7fff) >> mantissa_bits);
    const int mantissa = static_cast<int>(bits & ((1u << mantissa_bits) - 1));
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) {
        return mantissa == 0 ? sign * INFINITY : std::numeric_limits<double>::quiet_NaN();
    }
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

TEST(Half, AllPatterns_KeepTheirValueAndReturn) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const float value = to_float(Half{static_cast<std::uint16_t>(bits)});
        const double expected = value_of(bits, 10);
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(value)) << bits;
            ASSERT_EQ(to_half(value).bits, bits | 0x200) << "a NaN keeps its payload and becomes quiet";
        } else {
            ASSERT_EQ(value, expected) << bits;
            ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
            ASSERT_EQ(to_half(value).bits, bits);
        }
    }
}

TEST(BFloat16, AllPatterns_KeepTheirValueAndReturn) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const float value = to_float(BFloat16{static_cast<std::uint16_t>(bits)});
        const double expected = value_of(bits, 7);
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(value)) << bits;
            ASSERT_EQ(to_bfloat16(value).bits, bits | 0x40) << "a NaN keeps its payload and becomes quiet";
        } else {
            ASSERT_EQ(value, expected) << bits;
            ASSERT_EQ(to_bfloat16(value).bits, bits);
        }
    }
}

struct Rounding {
    float value;
    unsigned bits;
};

TEST(Half, KnownValues_RoundToNearestEven) {
    const std::vector<Rounding> known{
        {1.0f, 0x3c00},
        {-2.0f, 0xc000},
        {65504.0f, 0x7bff},    // the largest
        {65519.996f, 0x7bff},  // just under the middle to 65536
        {65520.0f, 0x7c00},    // the middle goes to even, which is infinity
        {-65520.0f, 0xfc00},
        {3.4e38f, 0x7c00},
        {2048.0f, 0x6800},
        {2049.0f, 0x6800},          // tie, even below
        {2051.0f, 0x6802},          // tie, even above
        {0x1p-14f, 0x0400},         // least normal
        {0x1.ff8p-15f, 0x03ff},     // greatest subnormal
        {0x1.ffcp-15f, 0x0400},     // tie between them, even above
        {0x1p-24f, 0x0001},         // least subnormal
        {0x1p-25f, 0x0000},         // half of it: tie, even is zero
        {0x1.000002p-25f, 0x0001},  // a little more
        {0x1.8p-24f, 0x0002},       // tie, even above
        {-0x1p-25f, 0x8000},
        {0x1p-149f, 0x0000},
        {0.1f, 0x2e66},
        {0.333333343f, 0x3555},
    };
    for (const Rounding& row : known) EXPECT_EQ(to_half(row.value).bits, row.bits) << row.value;
}

TEST(BFloat16, KnownValues_RoundToNearestEven) {
    const std::vector<Rounding> known{
        {1.0f, 0x3f80},           {256.0f, 0x4380},      {257.0f, 0x4380},  // tie, even below
        {259.0f, 0x4382},                                                   // tie, even above
        {3.38953139e38f, 0x7f7f},                                           // the largest
        {3.4e38f, 0x7f80},                                                  // beyond the middle: infinity
        {-3.4e38f, 0xff80},       {0x1p-133f, 0x0001},                      // least subnormal
        {0x1p-134f, 0x0000},                                                // tie, even is zero
        {0x1.8p-133f, 0x0002},    {3.14159274f, 0x4049},
    };
    for (const Rounding& row : known) EXPECT_EQ(to_bfloat16(row.value).bits, row.bits) << row.value;
}

TEST(Half, BetweenNeighbours_GoesToTheNearer) {
    for (unsigned bits = 0; bits < 0x7bff; ++bits) {
        const auto low = static_cast<float>(value_of(bits, 10));
        const auto high = static_cast<float>(value_of(bits + 1, 10));
        const float middle = (low + high) / 2;
        ASSERT_EQ(to_half(middle).bits, bits + (bits & 1));
        ASSERT_EQ(to_half(std::nextafter(middle, 0.0f)).bits, bits);
        ASSERT_EQ(to_half(std::nextafter(middle, INFINITY)).bits, bits + 1);
    }
}

TEST(BFloat16, BetweenNeighbours_GoesToTheNearer) {
    for (unsigned bits = 0; bits < 0x7f7f; ++bits) {
        const float middle = detail::float_of((bits << 16) | 0x8000);
        ASSERT_EQ(to_bfloat16(middle).bits, bits + (bits & 1));
        ASSERT_EQ(to_bfloat16(std::nextafter(middle, 0.0f)).bits, bits);
        ASSERT_EQ(to_bfloat16(std::nextafter(middle, INFINITY)).bits, bits + 1);
    }
}

}  // namespace
}  // namespace ringscope::reduce
