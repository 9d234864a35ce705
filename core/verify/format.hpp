// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/types.hpp"
#include "reduce/float8.hpp"
#include "reduce/half.hpp"

namespace ringscope::verify {

using reduce::BFloat16;
using reduce::Float8E4M3;
using reduce::Float8E5M2;
using reduce::Half;

template <class T>
concept Integer = std::integral<T>;

/// Bits of the significand, the hidden one included: integers up to 2^precision are exact.
template <class T>
inline constexpr int precision = 0;
template <>
inline constexpr int precision<double> = 53;
template <>
inline constexpr int precision<float> = 24;
template <>
inline constexpr int precision<Half> = 11;
template <>
inline constexpr int precision<BFloat16> = 8;
template <>
inline constexpr int precision<Float8E4M3> = 4;
template <>
inline constexpr int precision<Float8E5M2> = 3;

/// Whether mode `real` has data of its own. The bound of an 8-bit float is as large as its values from a few
/// contributors on, so that it would accept nearly anything: such a type, like an integer, gets exact data.
template <class T>
inline constexpr bool has_reals = precision<T> >= 8;

/// A native type that holds every value of T: T itself, or float for the shorter floats.
template <class T>
[[nodiscard]] auto native(T value) {
    if constexpr (std::is_arithmetic_v<T>)
        return value;
    else
        return to_float(value);
}

/// The nearest value of T. Rounding to double and float on the way does no harm to quotients and sums of
/// values of T.
template <class T>
[[nodiscard]] T round_to(long double value) {
    if constexpr (std::is_same_v<T, Half>)
        return reduce::to_half(static_cast<float>(value));
    else if constexpr (std::is_same_v<T, BFloat16>)
        return reduce::to_bfloat16(static_cast<float>(value));
    else if constexpr (std::is_same_v<T, Float8E4M3>)
        return reduce::to_float8_e4m3(static_cast<float>(value));
    else if constexpr (std::is_same_v<T, Float8E5M2>)
        return reduce::to_float8_e5m2(static_cast<float>(value));
    else
        return static_cast<T>(value);
}

template <class T>
[[nodiscard]] T element_at(const std::byte* bytes, std::int64_t index) {
    T value;
    std::memcpy(&value, bytes + index * std::int64_t{sizeof(T)}, sizeof(T));
    return value;
}

/// Calls `f` with a value of the C++ type of a DataType.
template <class F>
auto with_type(DataType dtype, F&& f) {
    switch (dtype) {
        case DataType::float64:
            return f(double{});
        case DataType::float16:
            return f(Half{});
        case DataType::bfloat16:
            return f(BFloat16{});
        case DataType::int32:
            return f(std::int32_t{});
        case DataType::int64:
            return f(std::int64_t{});
        case DataType::uint8:
            return f(std::uint8_t{});
        case DataType::int8:
            return f(std::int8_t{});
        case DataType::uint32:
            return f(std::uint32_t{});
        case DataType::uint64:
            return f(std::uint64_t{});
        case DataType::float8_e4m3:
            return f(Float8E4M3{});
        case DataType::float8_e5m2:
            return f(Float8E5M2{});
        case DataType::float32:
            break;
    }
    return f(float{});
}

}  // namespace ringscope::verify
