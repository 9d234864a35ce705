// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/types.hpp"
#include "config/experiment.hpp"
#include "verify/format.hpp"
#include "verify/random.hpp"

// A column is what the contributors put in at one index: one value each. These functions draw columns whose
// reduction is known and which show a fault. No value is a zero, but where a sum has more contributors than
// the type can count, and in the mode rank.
namespace ringscope::verify {

[[nodiscard]] constexpr bool is_sum(ReduceOp op) {
    return op == ReduceOp::sum || op == ReduceOp::avg;
}
[[nodiscard]] constexpr bool is_extreme(ReduceOp op) {
    return op == ReduceOp::min || op == ReduceOp::max;
}

/// Gives the extreme value to each contributor in turn: a minimum shows only who holds it.
template <class T>
void rotate_extreme(std::vector<T>& column, ReduceOp op, std::int64_t index) {
    const auto less = [](T a, T b) { return native(a) < native(b); };
    const auto extreme = op == ReduceOp::min ? std::min_element(column.begin(), column.end(), less)
                                             : std::max_element(column.begin(), column.end(), less);
    std::iter_swap(extreme, column.begin() + index % static_cast<std::int64_t>(column.size()));
}

/// Terms whose partial sums stay within the type, both signs where it has them: what a sum that overflows
/// gives is not agreed on (some MPI libraries saturate).
template <Integer T>
void draw_integer_terms(std::vector<T>& column, std::int64_t index, Random& random) {
    constexpr auto total = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    const std::uint64_t n = column.size(), limit = std::max<std::uint64_t>(1, total / n);
    const std::uint64_t every = (n - 1) / total + 1;  // of these, one is not 0; 1 in all but huge jobs
    for (std::uint64_t r = 0; r < n; ++r) {
        const auto magnitude = static_cast<T>(1 + random.below(limit));
        const bool negative = std::is_signed_v<T> && random.coin();
        column[r] = (r + static_cast<std::uint64_t>(index)) % every != 0 ? T{0}
                    : negative                                           ? static_cast<T>(-magnitude)
                                                                         : magnitude;
    }
}

/// Integers over the full range. A product wraps; its factors are odd, or a product of many would be 0, and
/// never 1.
template <Integer T>
void draw_integers(std::vector<T>& column, ReduceOp op, std::int64_t index, Random& random) {
    if (is_sum(op)) return draw_integer_terms(column, index, random);
    for (T& value : column) {
        const T neutral = op == ReduceOp::prod ? 1 : 0;
        do {
            value = static_cast<T>(random.bits() | (op == ReduceOp::prod ? 1u : 0u));
        } while (value == neutral);
    }
    if (is_extreme(op)) rotate_extreme(column, op, index);
}

/// Integers of both signs that add up to at most 2^precision, so that every partial sum is exact in any
/// order.
template <class T>
void draw_exact_terms(std::vector<T>& column, std::int64_t index, Random& random) {
    constexpr std::int64_t total = std::int64_t{1} << precision<T>;
    const auto n = static_cast<std::int64_t>(column.size());
    const std::int64_t limit = std::max<std::int64_t>(1, total / n);
    const std::int64_t every = (n + total - 1) / total;  // of these, one is not 0; 1 in all but huge jobs
    for (std::int64_t r = 0; r < n; ++r) {
        const auto magnitude = static_cast<double>(1 + random.below(static_cast<std::uint64_t>(limit)));
        column[r] = round_to<T>((r + index) % every == 0 ? random.sign() * magnitude : 0.0);
    }
}

/// Integers whose product has at most `precision` bits.
template <class T>
void draw_wide_factors(std::vector<T>& column, int bits, Random& random) {
    const std::uint64_t choices = (std::uint64_t{1} << bits) - 2;
    for (T& value : column)
        value = round_to<T>(random.sign() * static_cast<double>(2 + random.below(choices)));
}

/// Factors whose product, of any of them, is exact and in range. The first: from 2^-4 to 3^4 * 2^4, 7 bits.
template <class T>
inline constexpr std::array magnitudes_of{3.0, 0.5, 2.0, 3.0, 0.5, 2.0, 3.0, 0.5, 2.0, 3.0, 0.5, 2.0};
/// From 2^-5 to 3^2 * 2^5, 4 bits.
template <>
inline constexpr std::array magnitudes_of<Float8E4M3>{3.0, 0.5, 2.0, 0.5, 2.0, 0.5,
                                                      3.0, 0.5, 2.0, 0.5, 2.0, 2.0};
/// From 2^-5 to 3 * 2^6, 2 bits.
template <>
inline constexpr std::array magnitudes_of<Float8E5M2>{3.0, 0.5, 2.0, 0.5, 2.0, 0.5,
                                                      2.0, 0.5, 2.0, 0.5, 2.0, 2.0};

/// For many contributors: at most twelve factors are not -1. Every partial product is exact and changes when
/// one factor is left out.
template <class T>
void draw_narrow_factors(std::vector<T>& column, std::int64_t index, Random& random) {
    constexpr std::array magnitudes = magnitudes_of<T>;
    const std::size_t n = column.size(), start = random.below(magnitudes.size());
    for (std::size_t r = 0; r < n; ++r) {
        const std::size_t place = (r + static_cast<std::size_t>(index)) % n;
        const bool wide = place < magnitudes.size() && random.coin();
        const double magnitude = magnitudes[(place + start) % magnitudes.size()];
        column[r] = round_to<T>(wide ? random.sign() * magnitude : -1.0);
    }
}

template <class T>
void draw_exact_factors(std::vector<T>& column, std::int64_t index, Random& random) {
    const int bits = precision<T> / static_cast<int>(column.size());
    if (bits >= 2) {
        draw_wide_factors(column, bits, random);
    } else {
        draw_narrow_factors(column, index, random);
    }
}

template <class T>
void draw_exact(std::vector<T>& column, ReduceOp op, std::int64_t index, Random& random) {
    if (is_sum(op)) return draw_exact_terms(column, index, random);
    if (op == ReduceOp::prod) return draw_exact_factors(column, index, random);
    for (T& value : column) {
        const std::uint64_t magnitude = 1 + random.below(std::uint64_t{1} << precision<T>);
        value = round_to<T>(random.sign() * static_cast<double>(magnitude));
    }
    rotate_extreme(column, op, index);
}

/// Terms of one sign that share out the bits of a sum which needs the full significand. A partial sum is a
/// subset of these bits, hence exact; an accumulator that is one bit short cannot hold the sum.
template <class T>
void draw_mantissa_terms(std::vector<T>& column, std::int64_t index, Random& random) {
    constexpr std::uint64_t top = std::uint64_t{1} << (precision<T> - 1);
    const std::uint64_t sum = top | (random.bits() & (top - 1)) | 1;
    const double sign = random.sign();
    std::vector<std::uint64_t> shares(column.size());
    for (std::uint64_t bit = 0; bit < std::uint64_t{precision<T>}; ++bit) {
        const std::uint64_t owner = (bit + static_cast<std::uint64_t>(index)) % column.size();
        shares[owner] |= sum & (std::uint64_t{1} << bit);
    }
    std::ranges::transform(shares, column.begin(), [&](std::uint64_t share) {
        return round_to<T>(share == 0 ? 0.0 : sign * static_cast<double>(share));
    });
}

template <class T>
void draw_reals(std::vector<T>& column, Random& random) {
    for (T& value : column) value = round_to<T>(random.sign() * (0.25 + 0.75 * random.unit()));
}

/// One contributor cancels the others, all but rounding.
template <class T>
void cancel(std::vector<T>& column, std::size_t owner) {
    long double others = 0;
    for (std::size_t r = 0; r < column.size(); ++r) {
        if (r != owner) others += static_cast<long double>(native(column[r]));
    }
    if (others != 0) column[owner] = round_to<T>(-others);
}

/// One contributor just above 1 and the others small: adding one to a partial sum costs the largest relative
/// rounding.
template <class T>
void dominate(std::vector<T>& column, std::size_t owner, Random& random) {
    const double sign = random.sign(), small = 1.0 / (8.0 * static_cast<double>(column.size()));
    for (T& value : column) value = round_to<T>(sign * small * (0.5 + 0.5 * random.unit()));
    column[owner] = round_to<T>(sign * (1.0 + 0.25 * random.unit()));
}

/// In turn: random, badly cancelling, and dominated by one contributor.
template <class T>
void draw_real_terms(std::vector<T>& column, std::int64_t index, Random& random) {
    const std::size_t owner = static_cast<std::size_t>(index / 3) % column.size();
    draw_reals(column, random);
    if (index % 3 == 1) cancel(column, owner);
    if (index % 3 == 2) dominate(column, owner, random);
}

/// Factors near 1: no product of any number of them leaves [1/e, e] by much.
template <class T>
void draw_real_factors(std::vector<T>& column, Random& random) {
    const double spread = 0.5 / static_cast<double>(column.size());
    for (T& value : column) value = round_to<T>(random.sign() * (1.0 + spread * (2 * random.unit() - 1)));
}

template <class T>
void draw_real(std::vector<T>& column, ReduceOp op, std::int64_t index, Random& random) {
    if (is_sum(op)) return draw_real_terms(column, index, random);
    if (op == ReduceOp::prod) return draw_real_factors(column, random);
    draw_reals(column, random);
    rotate_extreme(column, op, index);
}

/// The place of each contributor: 0, 1, 2, ... at every index.
template <class T>
void number(std::vector<T>& column) {
    for (std::size_t r = 0; r < column.size(); ++r) {
        if constexpr (Integer<T>) {
            column[r] = static_cast<T>(r);
        } else {
            column[r] = round_to<T>(static_cast<double>(r));
        }
    }
}

template <class T>
void draw_column(std::vector<T>& column, ReduceOp op, VerifyMode mode, std::int64_t index, Random& random) {
    if (mode == VerifyMode::rank) return number(column);
    if constexpr (Integer<T>) {
        draw_integers(column, op, index, random);
    } else if (mode == VerifyMode::real && has_reals<T>) {
        draw_real(column, op, index, random);
    } else if (mode == VerifyMode::mantissa && is_sum(op)) {
        draw_mantissa_terms(column, index, random);
    } else {
        draw_exact(column, op, index, random);
    }
}

}  // namespace ringscope::verify
