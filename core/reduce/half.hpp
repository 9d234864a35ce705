// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Marks a function that host and device share, and that has no copy of its own in the object file: code for
// several instruction sets may then be linked into one program.
#ifdef __CUDACC__
#define RINGSCOPE_HD __host__ __device__ __forceinline__
#else
#define RINGSCOPE_HD inline __attribute__((always_inline))
#endif

namespace ringscope::reduce {

/// IEEE 754 binary16 as stored: 1 sign, 5 exponent and 10 mantissa bits.
struct Half {
    std::uint16_t bits;
};

/// bfloat16 as stored: the upper half of a float32.
struct BFloat16 {
    std::uint16_t bits;
};

namespace detail {

RINGSCOPE_HD constexpr std::uint32_t bits_of(float value) {
    return __builtin_bit_cast(std::uint32_t, value);
}
RINGSCOPE_HD constexpr float float_of(std::uint32_t bits) {
    return __builtin_bit_cast(float, bits);
}

inline constexpr std::uint32_t float_infinity = 0x7f800000;
inline constexpr std::uint32_t half_infinity = 0x7c00;

/// A normal half: moves the exponent, adds just under half a unit plus the last kept bit, and cuts. A carry
/// out of the mantissa is the next exponent, and beyond 65504 it is infinity.
RINGSCOPE_HD constexpr std::uint32_t round_normal(std::uint32_t magnitude) {
    return (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
}

/// A subnormal half: adding 0.5, whose last bit counts 2^-24, makes the adder round to the half's spacing.
RINGSCOPE_HD constexpr std::uint32_t round_subnormal(std::uint32_t magnitude) {
    return bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
}

#ifdef __CUDA_ARCH__

// One instruction where the device has it; a NaN is then NVIDIA's canonical one.
#define RINGSCOPE_DEVICE __device__ __forceinline__

RINGSCOPE_DEVICE float convert(Half half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half.bits));
    return value;
}
RINGSCOPE_DEVICE Half convert_to_half(float value) {
    Half half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
    return half;
}
#if __CUDA_ARCH__ >= 800
RINGSCOPE_DEVICE BFloat16 convert_to_bfloat16(float value) {
    BFloat16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}
#endif

#undef RINGSCOPE_DEVICE
#endif

}  // namespace detail

/// Exact, subnormals included; a NaN keeps its sign and payload and becomes quiet (a device keeps neither).
RINGSCOPE_HD constexpr float to_float(Half half) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) return detail::convert(half);
#endif
    const std::uint32_t magnitude = half.bits & 0x7fffu;
    const std::uint32_t sign = (half.bits & 0x8000u) << 16;
    const std::uint32_t scaled = detail::bits_of(detail::float_of(magnitude << 13) * 0x1p112f);
    const std::uint32_t special = detail::float_infinity | (magnitude << 13);
    const std::uint32_t quiet = magnitude > detail::half_infinity ? 0x400000u : 0u;
    return detail::float_of(sign | (magnitude >= detail::half_infinity ? special | quiet : scaled));
}

/// Exact; a NaN keeps its sign and payload.
RINGSCOPE_HD constexpr float to_float(BFloat16 value) {
    return detail::float_of(std::uint32_t{value.bits} << 16);
}

/// Rounds to nearest, ties to even; overflow becomes infinity, a NaN stays a quiet NaN. All cases are
/// computed and one is selected, so that a loop of it vectorises.
RINGSCOPE_HD constexpr Half to_half(float value) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) return detail::convert_to_half(value);
#endif
    const std::uint32_t bits = detail::bits_of(value);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t normal =
        magnitude < (143u << 23) ? detail::round_normal(magnitude) : detail::half_infinity;
    const std::uint32_t finite = magnitude < (113u << 23) ? detail::round_subnormal(magnitude) : normal;
    const std::uint32_t nan = detail::half_infinity | 0x200u | ((magnitude >> 13) & 0x3ffu);
    const std::uint32_t rounded = magnitude > detail::float_infinity ? nan : finite;
    return Half{static_cast<std::uint16_t>(((bits >> 16) & 0x8000u) | rounded)};
}

/// Rounds to nearest, ties to even; overflow becomes infinity, a NaN stays a quiet NaN.
RINGSCOPE_HD constexpr BFloat16 to_bfloat16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (!__builtin_is_constant_evaluated()) return detail::convert_to_bfloat16(value);
#endif
    const std::uint32_t bits = detail::bits_of(value);
    const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const std::uint32_t nan = (bits >> 16) | 0x40u;
    return BFloat16{
        static_cast<std::uint16_t>((bits & 0x7fffffffu) > detail::float_infinity ? nan : rounded)};
}

}  // namespace ringscope::reduce
