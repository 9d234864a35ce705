// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce/float8.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

// The expected values are those of the OCP's specification, section 5.
namespace ringscope::reduce {
namespace {

/// The magnitudes of a format in the order of their codes, up to the largest finite one: the subnormals, then
/// each power of two with its mantissas.
std::vector<double> magnitudes(int mantissa_bits, int bias, std::size_t count) {
    const int steps = 1 << mantissa_bits;
    std::vector<double> values;
    for (int mantissa = 0; mantissa < steps; ++mantissa) {
        values.push_back(std::ldexp(mantissa, 1 - bias - mantissa_bits));
    }
    for (int exponent = 1 - bias; values.size() < count; ++exponent) {
        for (int mantissa = 0; mantissa < steps; ++mantissa) {
            values.push_back(std::ldexp(steps + mantissa, exponent - mantissa_bits));
        }
    }
    values.resize(count);
    return values;
}

/// A format, with what the specification says of its codes.
struct E4M3 {
    using Type = Float8E4M3;
    static Type round(float value) { return to_float8_e4m3(value); }
    static std::vector<double> finite() { return magnitudes(3, 7, 0x7f); }
    static bool is_infinity(unsigned) { return false; }
    static constexpr std::array named{
        std::pair{0x00, 0.0},    std::pair{0x01, 0x1p-9}, std::pair{0x07, 0.875 * 0x1p-6},
        std::pair{0x08, 0x1p-6}, std::pair{0x38, 1.0},    std::pair{0x39, 1.125},
        std::pair{0x7e, 448.0}};
};
struct E5M2 {
    using Type = Float8E5M2;
    static Type round(float value) { return to_float8_e5m2(value); }
    static std::vector<double> finite() { return magnitudes(2, 15, 0x7c); }
    static bool is_infinity(unsigned magnitude) { return magnitude == 0x7c; }
    static constexpr std::array named{
        std::pair{0x00, 0.0},     std::pair{0x01, 0x1p-16}, std::pair{0x03, 0.75 * 0x1p-14},
        std::pair{0x04, 0x1p-14}, std::pair{0x3c, 1.0},     std::pair{0x3d, 1.25},
        std::pair{0x7b, 57344.0}};
};

template <class Format>
class Float8 : public testing::Test {
 protected:
    static float value_of(unsigned code) {
        return to_float(typename Format::Type{static_cast<std::uint8_t>(code)});
    }
    static unsigned code_of(float value) { return Format::round(value).bits; }
};
using Formats = testing::Types<E4M3, E5M2>;
TYPED_TEST_SUITE(Float8, Formats);

TYPED_TEST(Float8, NamedCodes_HaveTheValuesOfTheSpecification) {
    for (const auto& [code, value] : TypeParam::named) {
        const auto bits = static_cast<unsigned>(code);
        EXPECT_EQ(this->value_of(bits), value) << code;
        EXPECT_EQ(this->value_of(bits | 0x80u), -value) << code;
    }
}

TYPED_TEST(Float8, AllCodes_KeepTheirValueAndReturn) {
    const std::vector<double> finite = TypeParam::finite();
    for (unsigned code = 0; code < 0x100; ++code) {
        const unsigned magnitude = code & 0x7fu;
        const float value = this->value_of(code);
        EXPECT_EQ(std::signbit(value), code >= 0x80) << code;
        if (magnitude < finite.size()) {
            EXPECT_EQ(std::fabs(value), finite[magnitude]) << code;
            EXPECT_EQ(this->code_of(value), code);
        } else if (TypeParam::is_infinity(magnitude)) {
            EXPECT_TRUE(std::isinf(value)) << code;
            EXPECT_EQ(this->code_of(value), code - 1) << "infinity saturates";
        } else {
            EXPECT_TRUE(std::isnan(value)) << code;
            EXPECT_EQ(this->code_of(value), 0x7fu) << code;
        }
    }
}

TYPED_TEST(Float8, BetweenNeighbours_GoesToTheNearerAndTiesToEven) {
    const std::vector<double> finite = TypeParam::finite();
    for (unsigned code = 0; code + 1 < finite.size(); ++code) {
        const auto middle = static_cast<float>((finite[code] + finite[code + 1]) / 2);
        EXPECT_EQ(this->code_of(middle), code + (code & 1)) << code;
        EXPECT_EQ(this->code_of(std::nextafter(middle, 0.0f)), code) << code;
        EXPECT_EQ(this->code_of(std::nextafter(middle, INFINITY)), code + 1) << code;
        EXPECT_EQ(this->code_of(-middle), (code + (code & 1)) | 0x80) << code;
    }
}

TYPED_TEST(Float8, TooLarge_IsTheLargest) {
    const std::vector<double> finite = TypeParam::finite();
    const auto largest = static_cast<unsigned>(finite.size() - 1);
    for (const double value : {finite.back() * 1.07, finite.back() * 2, 1e30, double{INFINITY}}) {
        EXPECT_EQ(this->code_of(static_cast<float>(value)), largest) << value;
        EXPECT_EQ(this->code_of(static_cast<float>(-value)), largest | 0x80) << value;
    }
}

TYPED_TEST(Float8, TooSmall_IsZeroWithItsSign) {
    const float least = this->value_of(1);
    for (const float value : {least / 2, least / 1024, std::numeric_limits<float>::denorm_min(), 0.0f}) {
        EXPECT_EQ(this->code_of(value), 0x00u) << value;
        EXPECT_EQ(this->code_of(-value), 0x80u) << value;
    }
}

TYPED_TEST(Float8, NaN_OfEitherSignIsOneCode) {
    EXPECT_EQ(this->code_of(std::numeric_limits<float>::quiet_NaN()), 0x7fu);
    EXPECT_EQ(this->code_of(-std::numeric_limits<float>::quiet_NaN()), 0x7fu);
}

}  // namespace
}  // namespace ringscope::reduce
