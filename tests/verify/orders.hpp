// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/types.hpp"
#include "reduce/reduce.hpp"
#include "verify/format.hpp"
#include "verify/pattern.hpp"

// All-reduce results as different algorithms compute them, from the data of a Pattern.
namespace ringscope::verify::orders {

using Bytes = std::vector<std::byte>;

/// Left to right, rounded to T after each step, as NCCL reduces 8-bit floats.
template <class T>
Bytes combine_in_steps(ReduceOp op, const std::vector<const Bytes*>& from, std::int32_t divisor) {
    Bytes result = *from.front();
    const auto size = std::int64_t{sizeof(T)};
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(result.size()) / size; ++i) {
        T value = element_at<T>(result.data(), i);
        for (std::size_t k = 1; k < from.size(); ++k) {
            const auto a = native(value), b = native(element_at<T>(from[k]->data(), i));
            value = round_to<T>(
                op == ReduceOp::prod  ? a * b
                : op == ReduceOp::min ? std::min(a, b)
                : op == ReduceOp::max ? std::max(a, b)
                                      : a + b
            );
        }
        if (op == ReduceOp::avg && divisor > 0)
            value = round_to<T>(native(value) / static_cast<float>(divisor));
        std::memcpy(&result[static_cast<std::size_t>(i * size)], &value, sizeof(T));
    }
    return result;
}

/// Combines whole messages, with reduce_copy where it has the type.
inline Bytes combine(
    DataType dtype, ReduceOp op, const std::vector<const Bytes*>& from, std::int32_t divisor = 0
) {
    if (dtype == DataType::float8_e4m3) return combine_in_steps<Float8E4M3>(op, from, divisor);
    if (dtype == DataType::float8_e5m2) return combine_in_steps<Float8E5M2>(op, from, divisor);
    std::vector<const std::byte*> sources;
    for (const Bytes* message : from) sources.push_back(message->data());
    Bytes result(from.front()->size());
    std::byte* const destination = result.data();
    reduce::reduce_copy(dtype, op)(
        sources.data(), static_cast<int>(sources.size()), &destination, 1,
        static_cast<std::int64_t>(result.size()) / size_of(dtype), divisor
    );
    return result;
}

inline std::vector<Bytes> inputs_of(const Pattern& pattern, std::int64_t count, std::uint64_t seed) {
    std::vector<Bytes> inputs;
    for (const int rank : pattern.contributors()) {
        inputs.emplace_back(count * size_of(pattern.dtype()));
        pattern.fill(inputs.back().data(), rank, count, seed);
    }
    return inputs;
}

/// The message rounded to its type after each step of a chain that begins at `first`.
inline Bytes reduce_chain(const Pattern& pattern, const std::vector<Bytes>& inputs, std::size_t first) {
    const std::size_t n = inputs.size();
    Bytes partial = inputs[first % n];
    for (std::size_t step = 1; step < n; ++step) {
        const bool last = step + 1 == n;
        partial = combine(
            pattern.dtype(), pattern.op(), {&partial, &inputs[(first + step) % n]},
            last ? static_cast<std::int32_t>(n) : 0
        );
    }
    return n > 1 ? partial : combine(pattern.dtype(), pattern.op(), {&partial}, 1);
}

/// A ring: chunk c of n is summed along the chain that begins behind its owner.
inline Bytes reduce_in_ring_order(const Pattern& pattern, const std::vector<Bytes>& inputs) {
    const std::int64_t n = static_cast<std::int64_t>(inputs.size()), size = size_of(pattern.dtype());
    const std::int64_t count = static_cast<std::int64_t>(inputs[0].size()) / size;
    Bytes result;
    for (std::int64_t chunk = 0; chunk < n; ++chunk) {
        const std::int64_t begin = count * chunk / n * size, end = count * (chunk + 1) / n * size;
        std::vector<Bytes> pieces;
        for (const Bytes& input : inputs) pieces.emplace_back(input.begin() + begin, input.begin() + end);
        const Bytes piece = reduce_chain(pattern, pieces, static_cast<std::size_t>(chunk + 1));
        result.insert(result.end(), piece.begin(), piece.end());
    }
    return result;
}

/// A binary tree: pairs, then pairs of pairs.
inline Bytes reduce_in_tree_order(const Pattern& pattern, std::vector<Bytes> level) {
    const auto n = static_cast<std::int32_t>(level.size());
    while (level.size() > 1) {
        const std::int32_t divisor = level.size() == 2 ? n : 0;
        std::vector<Bytes> next;
        for (std::size_t k = 0; k + 1 < level.size(); k += 2) {
            next.push_back(combine(pattern.dtype(), pattern.op(), {&level[k], &level[k + 1]}, divisor));
        }
        if (level.size() % 2 == 1) next.push_back(level.back());
        level = std::move(next);
    }
    return n > 1 ? level[0] : combine(pattern.dtype(), pattern.op(), {&level[0]}, 1);
}

/// A parameter server: all at once, in the order of ranks.
inline Bytes reduce_in_rank_order(const Pattern& pattern, const std::vector<Bytes>& inputs) {
    std::vector<const Bytes*> all;
    for (const Bytes& input : inputs) all.push_back(&input);
    return combine(pattern.dtype(), pattern.op(), all, static_cast<std::int32_t>(inputs.size()));
}

}  // namespace ringscope::verify::orders
