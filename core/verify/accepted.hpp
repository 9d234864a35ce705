// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "verify/column.hpp"

// Which results of a column are right: computed in wider arithmetic than the type's own, without the functors
// that the engines use.
namespace ringscope::verify {

/// Both ends are right results; they are equal where only one is.
template <class T>
struct Accepted {
    T low, high;
};

template <class T>
[[nodiscard]] T extreme_of(const std::vector<T>& column, ReduceOp op) {
    const auto less = [](T a, T b) { return native(a) < native(b); };
    return op == ReduceOp::min ? *std::min_element(column.begin(), column.end(), less)
                               : *std::max_element(column.begin(), column.end(), less);
}

/// Truncates toward zero; the divisor may be larger than T holds.
template <Integer T>
[[nodiscard]] T divide(T sum, std::size_t divisor) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>(static_cast<Wide>(sum) / static_cast<Wide>(divisor));
}

/// Modulo 2^64 first, then modulo 2^k.
template <Integer T>
[[nodiscard]] T reduce_integers(const std::vector<T>& column, ReduceOp op) {
    if (is_extreme(op)) return extreme_of(column, op);
    std::uint64_t sum = 0, product = 1;
    for (const T value : column) {
        sum += static_cast<std::uint64_t>(value);
        product *= static_cast<std::uint64_t>(value);
    }
    if (op == ReduceOp::prod) return static_cast<T>(product);
    const auto wrapped = static_cast<T>(sum);
    return op == ReduceOp::avg ? divide(wrapped, column.size()) : wrapped;
}

/// The reduction before the division of avg.
template <class T>
[[nodiscard]] long double reduce_reals(const std::vector<T>& column, ReduceOp op) {
    if (is_extreme(op)) return native(extreme_of(column, op));
    long double sum = 0, product = 1;
    for (const T value : column) {
        sum += static_cast<long double>(native(value));
        product *= static_cast<long double>(native(value));
    }
    return op == ReduceOp::prod ? product : sum;
}

/// The reduction of exact data: sums and products fit in a double, and a division rounds to double and then
/// to T, which gives the same as rounding once (double has more than twice T's bits), for double itself it is
/// the one rounding.
template <class T>
[[nodiscard]] T reduce_exactly(const std::vector<T>& column, ReduceOp op) {
    const auto reduced = static_cast<double>(reduce_reals(column, op));
    return round_to<T>(op == ReduceOp::avg ? reduced / static_cast<double>(column.size()) : reduced);
}

/// Higham's gamma_k = k u / (1 - k u): the relative error of k roundings with unit roundoff u.
[[nodiscard]] inline long double gamma(std::int64_t k, long double u) {
    const long double ku = static_cast<long double>(k) * u;
    return ku < 1 ? ku / (1 - ku) : std::numeric_limits<long double>::infinity();
}

/// Roundings on the longest path of any algorithm: a chain through all contributors, and for avg a rounded
/// 1/N and the multiplication by it (a division is one rounding only).
[[nodiscard]] inline std::int64_t roundings(ReduceOp op, std::int64_t contributors) {
    if (is_extreme(op)) return 0;
    return contributors - 1 + (op == ReduceOp::avg ? 2 : 0);
}

/// What the relative error refers to: the sum of magnitudes, never the result, which may have cancelled.
template <class T>
[[nodiscard]] long double magnitude_of(const std::vector<T>& column, ReduceOp op) {
    if (!is_sum(op)) return std::abs(reduce_reals(column, op));
    long double sum = 0;
    for (const T value : column) sum += std::abs(static_cast<long double>(native(value)));
    return op == ReduceOp::avg ? sum / static_cast<long double>(column.size()) : sum;
}

/// The neighbour of a value in the direction of the sign of `step`.
template <class T>
[[nodiscard]] T neighbour(T value, int step) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        return std::nextafter(value, step > 0 ? infinity : -infinity);
    } else {
        if ((value.bits & 0x7fff) == 0) return T{static_cast<std::uint16_t>(step > 0 ? 0x0001 : 0x8001)};
        const bool away_from_zero = (native(value) > 0) == (step > 0);
        return T{static_cast<std::uint16_t>(value.bits + (away_from_zero ? 1 : -1))};
    }
}

/// The value of T that is nearest to `limit` from inside: not below it for step = 1, not above it for step =
/// -1.
template <class T>
[[nodiscard]] T inside(long double limit, int step) {
    T value = round_to<T>(limit);
    while (step * (static_cast<long double>(native(value)) - limit) < 0) value = neighbour(value, step);
    return value;
}

/// Within gamma_k * sum|x_i| of the exact result; the error of the reference itself counts as well.
template <class T>
[[nodiscard]] Accepted<T> accept_reals(const std::vector<T>& column, ReduceOp op) {
    const auto n = static_cast<std::int64_t>(column.size());
    const std::int64_t k = roundings(op, n);
    const long double error =
        gamma(k, std::ldexp(1.0L, -precision<T>)) + gamma(k, std::numeric_limits<long double>::epsilon());
    const long double bound = k == 0 ? 0 : error * magnitude_of(column, op);
    const long double exact =
        reduce_reals(column, op) / (op == ReduceOp::avg ? static_cast<long double>(n) : 1);
    return {inside<T>(exact - bound, 1), inside<T>(exact + bound, -1)};
}

template <class T>
[[nodiscard]] Accepted<T> accepted(const std::vector<T>& column, ReduceOp op, VerifyMode mode) {
    if constexpr (Integer<T>) {
        const T only = reduce_integers(column, op);
        return {only, only};
    } else {
        if constexpr (has_reals<T>) {
            if (mode == VerifyMode::real) return accept_reals(column, op);
        }
        const T only = reduce_exactly(column, op);
        return {only, only};
    }
}

}  // namespace ringscope::verify
