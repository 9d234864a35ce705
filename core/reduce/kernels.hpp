// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>

#include "reduce/functors.hpp"
#include "reduce/table.hpp"

// The loops of reduce_copy. Each source file that includes this header compiles them for another instruction
// set, so everything here has internal linkage.

// The iterations of the next loop are independent: an element is read from all sources before it is written,
// and sources and destinations are either the same array or apart.
#ifdef __clang__
#define RINGSCOPE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define RINGSCOPE_INDEPENDENT _Pragma("GCC ivdep")
#endif

// A loop in a function of its own: inlined into the loop over sources, the compiler no longer vectorises it.
#define RINGSCOPE_LOOP __attribute__((noinline))

namespace ringscope::reduce {
namespace {

using Sources = const std::byte* const*;
using Destinations = std::byte* const*;

/// Bytes of accumulators that are worked on at a time, so that they stay in the first-level cache.
constexpr std::int64_t block_bytes = 4096;

template <class T>
RINGSCOPE_HD Accumulator<T> load(const std::byte* from, std::int64_t i) {
    T value;
    std::memcpy(&value, from + i * std::int64_t{sizeof(T)}, sizeof(T));
    return Element<T>::load(value);
}

template <class T>
RINGSCOPE_HD void store(std::byte* to, std::int64_t i, T value) {
    std::memcpy(to + i * std::int64_t{sizeof(T)}, &value, sizeof(T));
}

/// Combines element i of 1 to 4 sources, left to right.
template <class T, class Op, int source_count>
RINGSCOPE_HD Accumulator<T> combine(
    const std::byte* a, const std::byte* b, const std::byte* c, const std::byte* d, std::int64_t i
) {
    Accumulator<T> result = load<T>(a, i);
    if constexpr (source_count > 1) result = Op::combine(result, load<T>(b, i));
    if constexpr (source_count > 2) result = Op::combine(result, load<T>(c, i));
    if constexpr (source_count > 3) result = Op::combine(result, load<T>(d, i));
    return result;
}

/// Few sources, one or two destinations: no intermediate storage.
template <class T, class Op, int source_count, int destination_count, class Finish>
void reduce_few(Sources from, std::int64_t first, Destinations to, std::int64_t count, Finish finish) {
    const auto source = [&](int k) {
        return from[std::min(k, source_count - 1)] + first * std::int64_t{sizeof(T)};
    };
    const std::byte *const a = source(0), *const b = source(1), *const c = source(2), *const d = source(3);
    std::byte* const x = to[0] + first * std::int64_t{sizeof(T)};
    std::byte* const y = to[destination_count - 1] + first * std::int64_t{sizeof(T)};
    RINGSCOPE_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
        const T value = finish.store(combine<T, Op, source_count>(a, b, c, d, i));
        store<T>(x, i, value);
        if constexpr (destination_count > 1) store<T>(y, i, value);
    }
}

template <class T, class Op>
RINGSCOPE_LOOP void start_block(Sources from, std::int64_t first, Accumulator<T>* sums, std::int64_t count) {
    const std::int64_t offset = first * std::int64_t{sizeof(T)};
    const std::byte *const a = from[0] + offset, *const b = from[1] + offset;
    const std::byte *const c = from[2] + offset, *const d = from[3] + offset;
    RINGSCOPE_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) sums[i] = combine<T, Op, 4>(a, b, c, d, i);
}

template <class T, class Op>
RINGSCOPE_LOOP void add_to_block(
    const std::byte* from, std::int64_t first, Accumulator<T>* sums, std::int64_t count
) {
    const std::byte* const a = from + first * std::int64_t{sizeof(T)};
    RINGSCOPE_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) sums[i] = Op::combine(sums[i], load<T>(a, i));
}

template <class T, int destination_count, class Finish>
RINGSCOPE_LOOP void finish_block(
    const Accumulator<T>* sums, std::int64_t first, Destinations to, std::int64_t count, Finish finish
) {
    std::byte* const x = to[0] + first * std::int64_t{sizeof(T)};
    std::byte* const y = to[destination_count - 1] + first * std::int64_t{sizeof(T)};
    RINGSCOPE_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
        const T value = finish.store(sums[i]);
        store<T>(x, i, value);
        if constexpr (destination_count > 1) store<T>(y, i, value);
    }
}

/// More than four sources: a block of accumulators takes them one after the other.
template <class T, class Op, int destination_count, class Finish>
void reduce_many(
    Sources from, int source_count, std::int64_t first, Destinations to, std::int64_t count, Finish finish
) {
    Accumulator<T> sums[block_bytes / sizeof(Accumulator<T>)];
    start_block<T, Op>(from, first, sums, count);
    for (int k = 4; k < source_count; ++k) add_to_block<T, Op>(from[k], first, sums, count);
    finish_block<T, destination_count>(sums, first, to, count, finish);
}

template <class T, class Op, int destination_count, class Finish>
void reduce_range(
    Sources from, int source_count, std::int64_t first, Destinations to, std::int64_t count, Finish finish
) {
    switch (source_count) {
        case 1:
            return reduce_few<T, Op, 1, destination_count>(from, first, to, count, finish);
        case 2:
            return reduce_few<T, Op, 2, destination_count>(from, first, to, count, finish);
        case 3:
            return reduce_few<T, Op, 3, destination_count>(from, first, to, count, finish);
        case 4:
            return reduce_few<T, Op, 4, destination_count>(from, first, to, count, finish);
        default:
            return reduce_many<T, Op, destination_count>(from, source_count, first, to, count, finish);
    }
}

void copy_bytes(const std::byte* from, std::byte* to, std::int64_t bytes) {
    if (from != to && bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

/// Destinations beyond the second are copies of the first, made while the range is in the cache.
template <class T>
void copy_to_rest(Destinations to, int destination_count, std::int64_t first, std::int64_t count) {
    const std::int64_t offset = first * std::int64_t{sizeof(T)};
    for (int k = 2; k < destination_count; ++k) {
        copy_bytes(to[0] + offset, to[k] + offset, count * std::int64_t{sizeof(T)});
    }
}

template <class T, class Op, class Finish>
void reduce_all(
    Sources from, int source_count, Destinations to, int destination_count, std::int64_t count, Finish finish
) {
    constexpr std::int64_t block = block_bytes / std::int64_t{sizeof(Accumulator<T>)};
    const std::int64_t range = source_count > 4 || destination_count > 2 ? block : count;
    for (std::int64_t first = 0; first < count; first += range) {
        const std::int64_t length = std::min(range, count - first);
        if (destination_count == 1) {
            reduce_range<T, Op, 1>(from, source_count, first, to, length, finish);
        } else {
            reduce_range<T, Op, 2>(from, source_count, first, to, length, finish);
            copy_to_rest<T>(to, destination_count, first, length);
        }
    }
}

void copy_all(const std::byte* from, Destinations to, int destination_count, std::int64_t bytes) {
    const std::int64_t range = destination_count == 1 ? bytes : block_bytes;
    for (std::int64_t first = 0; first < bytes; first += range) {
        for (int k = 0; k < destination_count; ++k) {
            copy_bytes(from + first, to[k] + first, std::min(range, bytes - first));
        }
    }
}

template <class T, class Op>
void reduce_without_division(
    Sources from, int source_count, Destinations to, int destination_count, std::int64_t count, std::int32_t
) {
    if (source_count == 1) return copy_all(from[0], to, destination_count, count * std::int64_t{sizeof(T)});
    reduce_all<T, Op>(from, source_count, to, destination_count, count, NoFinish<T>{});
}

template <class T>
void reduce_average(
    Sources from, int source_count, Destinations to, int destination_count, std::int64_t count,
    std::int32_t divisor
) {
    if (divisor <= 0) {
        return reduce_without_division<T, Sum>(from, source_count, to, destination_count, count, divisor);
    }
    using Divisor = decltype(Divide<T>::divisor);
    const Divide<T> finish{static_cast<Divisor>(divisor)};
    reduce_all<T, Sum>(from, source_count, to, destination_count, count, finish);
}

template <class T>
constexpr TableRow row_of() {
    // In the order of RINGSCOPE_SUM, _PROD, _MIN, _MAX, _AVG.
    return {
        reduce_without_division<T, Sum>, reduce_without_division<T, Prod>, reduce_without_division<T, Min>,
        reduce_without_division<T, Max>, reduce_average<T>};
}

// In the order of RINGSCOPE_FLOAT32, _FLOAT64, _FLOAT16, _BFLOAT16, _INT32, _INT64, _UINT8, _INT8, _UINT32,
// _UINT64. The 8-bit floats have none.
constexpr Table kernels{
    row_of<float>(),
    row_of<double>(),
    row_of<Half>(),
    row_of<BFloat16>(),
    row_of<std::int32_t>(),
    row_of<std::int64_t>(),
    row_of<std::uint8_t>(),
    row_of<std::int8_t>(),
    row_of<std::uint32_t>(),
    row_of<std::uint64_t>(),
    TableRow{},
    TableRow{}};

}  // namespace
}  // namespace ringscope::reduce
