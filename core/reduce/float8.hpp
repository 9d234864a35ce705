// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reduce/half.hpp"

// The 8-bit floats of the OCP ("OCP 8-bit Floating Point Specification", revision 1.0). A conversion to one
// saturates, as those of CUDA do under __NV_SATFINITE and hence those of NCCL: what is too large becomes the
// largest finite value.
namespace ringscope::reduce {

/// 1 sign, 4 exponent (bias 7) and 3 mantissa bits. No infinity; 0x7f and 0xff are NaN; the largest is 448.
struct Float8E4M3 {
    std::uint8_t bits;
};

/// 1 sign, 5 exponent (bias 15) and 2 mantissa bits, with infinity and NaN as in IEEE 754; the largest is
/// 57344.
struct Float8E5M2 {
    std::uint8_t bits;
};

namespace detail {

inline constexpr std::uint32_t float8_nan = 0x7f;
inline constexpr std::uint32_t largest_e4m3 = 0x7e, largest_e5m2 = 0x7b;

/// The float whose exponent field holds this power of two.
RINGSCOPE_HD constexpr float power_of_two(int exponent) {
    return float_of(static_cast<std::uint32_t>(127 + exponent) << 23);
}

/// The value of a finite magnitude: as a float it has a bias of 127 in place of its own.
template <int mantissa_bits, int bias>
RINGSCOPE_HD constexpr std::uint32_t widen(std::uint32_t magnitude) {
    return bits_of(float_of(magnitude << (23 - mantissa_bits)) * power_of_two(127 - bias));
}

/// A normal result: moves the exponent, adds just under half a unit plus the last kept bit, and cuts.
template <int mantissa_bits, int bias>
RINGSCOPE_HD constexpr std::uint32_t round_normal8(std::uint32_t magnitude) {
    constexpr int cut = 23 - mantissa_bits;
    constexpr std::uint32_t under_half = (1u << (cut - 1)) - 1;
    return (magnitude - ((127u - bias) << 23) + under_half + ((magnitude >> cut) & 1)) >> cut;
}

/// A subnormal result: adding a float whose last bit counts as much as that of the result makes the adder
/// round.
template <int mantissa_bits, int bias>
RINGSCOPE_HD constexpr std::uint32_t round_subnormal8(std::uint32_t magnitude) {
    constexpr int exponent_of_addend = 1 - bias - mantissa_bits + 23;
    return bits_of(float_of(magnitude) + power_of_two(exponent_of_addend)) -
           bits_of(power_of_two(exponent_of_addend));
}

/// To nearest, ties to even; at most `largest`; a NaN becomes 0x7f, without its sign, as CUDA has it.
template <int mantissa_bits, int bias>
RINGSCOPE_HD constexpr std::uint8_t to_float8(float value, std::uint32_t largest) {
    constexpr std::uint32_t least_normal = (128u - bias) << 23;
    const std::uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffffu;
    if (magnitude > float_infinity) return float8_nan;
    const std::uint32_t rounded = magnitude < least_normal ? round_subnormal8<mantissa_bits, bias>(magnitude)
                                                           : round_normal8<mantissa_bits, bias>(magnitude);
    const std::uint32_t finite = rounded < largest ? rounded : largest;
    return static_cast<std::uint8_t>(((bits >> 24) & 0x80u) | finite);
}

}  // namespace detail

/// Exact, subnormals included; a NaN keeps its sign.
RINGSCOPE_HD constexpr float to_float(Float8E4M3 value) {
    const std::uint32_t magnitude = value.bits & 0x7fu, sign = (value.bits & 0x80u) << 24;
    const bool nan = magnitude > detail::largest_e4m3;
    return detail::float_of(sign | (nan ? 0x7fc00000u : detail::widen<3, 7>(magnitude)));
}

/// Exact, subnormals included; a NaN keeps its sign and payload and becomes quiet.
RINGSCOPE_HD constexpr float to_float(Float8E5M2 value) {
    // The upper half of a binary16.
    return to_float(Half{static_cast<std::uint16_t>(value.bits << 8)});
}

/// Rounds to nearest, ties to even; overflow and infinity become 448, a NaN becomes 0x7f.
RINGSCOPE_HD constexpr Float8E4M3 to_float8_e4m3(float value) {
    return {detail::to_float8<3, 7>(value, detail::largest_e4m3)};
}

/// Rounds to nearest, ties to even; overflow and infinity become 57344, a NaN becomes 0x7f.
RINGSCOPE_HD constexpr Float8E5M2 to_float8_e5m2(float value) {
    return {detail::to_float8<2, 15>(value, detail::largest_e5m2)};
}

}  // namespace ringscope::reduce
