// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/tables.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "verify/accepted.hpp"
#include "verify/column.hpp"

namespace ringscope::verify {
namespace {

template <class T>
std::int64_t count_outside(
    const std::byte* got, const std::byte* low, const std::byte* high, std::int64_t count
) {
    std::int64_t outside = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = native(element_at<T>(got, i));
        const bool inside = native(element_at<T>(low, i)) <= value && value <= native(element_at<T>(high, i));
        outside += inside ? 0 : 1;  // a NaN is outside
    }
    return outside;
}

template <class T>
std::string digits(T value, int base) {
    std::array<char, 72> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, base).ptr;
    return {text.data(), end};
}

template <class T>
std::string shortest(T value) {
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

/// "1.5 (0x3fc00000)": a NaN has many bit patterns, and neighbours may print alike in a narrower format.
template <class T>
std::string text_of(const std::byte* element) {
    const T value = element_at<T>(element, 0);
    if constexpr (Integer<T>) {
        return shortest(value);
    } else {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof(T));
        std::string hex = digits(bits, 16);
        hex.insert(0, 2 * sizeof(T) - hex.size(), '0');
        return shortest(native(value)) + " (0x" + hex + ")";
    }
}

/// The values at one place of the tables, with one contributor `weight` times.
template <class T>
std::vector<T> column_at(
    const ElementTables& tables, std::int64_t at, std::size_t place, std::size_t weight
) {
    std::vector<T> column;
    for (std::size_t k = 0; k < tables.inputs.size(); ++k) {
        column.insert(column.end(), k == place ? weight : 1, element_at<T>(tables.inputs[k].data(), at));
    }
    return column;
}

/// The result of a faulty column; the fault does not change the divisor of avg.
template <class T>
T reduce_faulty(const std::vector<T>& column, ReduceOp op, std::size_t contributors) {
    const ReduceOp undivided = op == ReduceOp::avg ? ReduceOp::sum : op;
    const std::size_t divisor = op == ReduceOp::avg ? contributors : 1;
    if constexpr (Integer<T>) {
        return divide(reduce_integers(column, undivided), divisor);
    } else {
        return round_to<T>(reduce_reals(column, undivided) / static_cast<long double>(divisor));
    }
}

template <class T>
bool is_with_weight(
    const ElementTables& tables, std::int64_t at, std::size_t place, std::size_t weight, const std::byte* got
) {
    const std::vector<T> column = column_at<T>(tables, at, place, weight);
    if (column.empty()) return false;
    return native(reduce_faulty(column, tables.op, tables.inputs.size())) == native(element_at<T>(got, 0));
}

/// A result must not look like untouched memory: neither like poison (0xFF bytes; as a float it is a NaN
/// anyway) nor, in the modes where it can be had, like zeroed pages.
template <class T>
bool tells_untouched_memory(const Accepted<T>& result, VerifyMode mode) {
    if constexpr (Integer<T>) {
        return result.low != static_cast<T>(-1) && result.low != 0;
    } else {
        return (mode == VerifyMode::real && has_reals<T>) || native(result.low) != 0;
    }
}

/// A column with its results; draws again while the result could be mistaken. There are types and numbers of
/// contributors with no better result (the average of 256 uint8), so the attempts are limited.
template <class T>
Accepted<T> draw_telling_column(std::vector<T>& column, ReduceOp op, VerifyMode mode, std::int64_t index) {
    constexpr std::uint64_t attempts = 16;
    Accepted<T> result{};
    for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
        Random random{mix(static_cast<std::uint64_t>(index) * attempts + attempt)};
        draw_column(column, op, mode, index, random);
        result = accepted(column, op, mode);
        if (tells_untouched_memory(result, mode)) break;
    }
    return result;
}

/// Writes an element to its place and, where there is one, to its second place behind the table's end.
template <class T>
void put(std::vector<std::byte>& table, std::int64_t index, T value) {
    std::memcpy(table.data() + index * std::int64_t{sizeof(T)}, &value, sizeof(T));
    if (index >= block_length - 1) return;
    std::memcpy(table.data() + (index + table_length) * std::int64_t{sizeof(T)}, &value, sizeof(T));
}

/// In the mode rank the sum of 0 .. n-1, with all that is added up to it, has to be a value of the type.
template <class T>
void check_numbers(VerifyMode mode, std::size_t contributors) {
    if (mode != VerifyMode::rank) return;
    const std::uint64_t n = contributors, sum = n * (n - 1) / 2;
    std::uint64_t most = 0;
    if constexpr (Integer<T>) {
        most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    } else {
        most = std::uint64_t{1} << precision<T>;
    }
    if (sum <= most) return;
    throw Error{
        ExitCode::usage, "verify.mode rank: the sum of the numbers of " + std::to_string(n) + " ranks is " +
                             std::to_string(sum) + ", and this type counts to " + std::to_string(most) +
                             ": take another type, or mode exact"};
}

template <class T>
ElementTables make_tables_of(ReduceOp op, VerifyMode mode, std::size_t contributors) {
    check_numbers<T>(mode, contributors);
    const std::vector<std::byte> empty((table_length + block_length - 1) * sizeof(T));
    ElementTables tables{std::vector(contributors, empty),
                         empty,
                         empty,
                         count_outside<T>,
                         text_of<T>,
                         is_with_weight<T>,
                         op,
                         mode};
    std::vector<T> column(contributors);
    for (std::int64_t index = 0; index < table_length; ++index) {
        const Accepted<T> result = draw_telling_column(column, op, mode, index);
        for (std::size_t k = 0; k < contributors; ++k) put(tables.inputs[k], index, column[k]);
        put(tables.low, index, result.low);
        put(tables.high, index, result.high);
    }
    return tables;
}

}  // namespace

ElementTables make_tables(DataType dtype, ReduceOp op, VerifyMode mode, std::size_t contributors) {
    return with_type(dtype, [&](auto type) {
        return make_tables_of<decltype(type)>(op, mode, contributors);
    });
}

}  // namespace ringscope::verify
