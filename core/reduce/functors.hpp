// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "reduce/half.hpp"

// The reductions as functors that host and device share. A functor combines values in an accumulator type:
//
//   Accumulator load(T)                     widens an element
//   Accumulator combine(Accumulator, Accumulator)
//   T store(Accumulator)                    rounds once, or wraps
//
// The rules: half types accumulate in float and are rounded once per op, whatever its fan-in; integers wrap
// modulo 2^k; min and max are NaN when any operand is, in any order (which of -0 and +0 they give is not
// defined); avg is a sum that is divided once, by the op that finishes a chunk: floating point divides by N
// and does not multiply by 1/N, integers truncate toward zero.
namespace ringscope::reduce {

/// How an element type is held while it is reduced.
template <class T>
struct Element {
    using Accumulator = T;
    RINGSCOPE_HD static constexpr T load(T value) { return value; }
    RINGSCOPE_HD static constexpr T store(T value) { return value; }
};

template <>
struct Element<Half> {
    using Accumulator = float;
    RINGSCOPE_HD static constexpr float load(Half value) { return to_float(value); }
    RINGSCOPE_HD static constexpr Half store(float value) { return to_half(value); }
};

template <>
struct Element<BFloat16> {
    using Accumulator = float;
    RINGSCOPE_HD static constexpr float load(BFloat16 value) { return to_float(value); }
    RINGSCOPE_HD static constexpr BFloat16 store(float value) { return to_bfloat16(value); }
};

template <class T>
using Accumulator = typename Element<T>::Accumulator;

namespace detail {

/// The type in which an accumulator is added and multiplied: signed overflow is undefined, and unsigned is
/// not.
template <class A>
struct Arithmetic {
    using Type = A;
};
template <>
struct Arithmetic<std::int32_t> {
    using Type = std::uint32_t;
};
template <>
struct Arithmetic<std::int64_t> {
    using Type = std::uint64_t;
};
/// Promotion of 8-bit integers to int cannot overflow here: 255 * 255 fits.
template <class A>
using Wrapping = typename Arithmetic<A>::Type;

}  // namespace detail

struct Sum {
    template <class A>
    RINGSCOPE_HD static constexpr A combine(A a, A b) {
        using W = detail::Wrapping<A>;
        return static_cast<A>(static_cast<W>(a) + static_cast<W>(b));
    }
};

struct Prod {
    template <class A>
    RINGSCOPE_HD static constexpr A combine(A a, A b) {
        using W = detail::Wrapping<A>;
        return static_cast<A>(static_cast<W>(a) * static_cast<W>(b));
    }
};

struct Min {
    template <class A>
    RINGSCOPE_HD static constexpr A combine(A a, A b) {
        const A least = a < b ? a : b;  // b where either is NaN
        return a != a ? a : least;
    }
};

struct Max {
    template <class A>
    RINGSCOPE_HD static constexpr A combine(A a, A b) {
        const A greatest = a > b ? a : b;  // b where either is NaN
        return a != a ? a : greatest;
    }
};

/// Leaves an accumulated value as it is.
template <class T>
struct NoFinish {
    RINGSCOPE_HD constexpr T store(Accumulator<T> value) const { return Element<T>::store(value); }
};

/// Divides a sum by the number of its contributions, before it is rounded to T.
template <class T>
struct Divide {
    Accumulator<T> divisor;
    RINGSCOPE_HD constexpr T store(Accumulator<T> sum) const {
        return Element<T>::store(static_cast<Accumulator<T>>(sum / divisor));
    }
};

/// There may be more contributions than 8 bits count.
template <class T>
requires(std::is_integral_v<T> && sizeof(T) == 1) struct Divide<T> {
    std::int32_t divisor;
    RINGSCOPE_HD constexpr T store(T sum) const { return static_cast<T>(sum / divisor); }
};

}  // namespace ringscope::reduce
