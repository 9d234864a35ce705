// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace ringscope::reduce {

/// Combines `count` elements of the sources in the listed order, left to right, and writes the result to
/// every destination, in one pass over memory.
///
/// A divisor > 0 finishes an avg: the sum is divided by it, once; the other operations ignore it, and 0 never
/// divides. One source without a division is a copy. A source may be a destination as well; a partial overlap
/// is not allowed. Pointers are aligned to the element at least; source_count and destination_count are >= 1,
/// count >= 0.
using ReduceCopy = void (*)(
    const std::byte* const* sources, int source_count, std::byte* const* destinations, int destination_count,
    std::int64_t count, std::int32_t divisor
);

/// Whether host and device can reduce this type: all but the 8-bit floats, which are NCCL's alone.
[[nodiscard]] constexpr bool has(DataType dtype) {
    return dtype != DataType::float8_e4m3 && dtype != DataType::float8_e5m2;
}

/// The function for one element type and operation, in the widest instruction set that this processor has.
/// Null for a type that this module does not have.
[[nodiscard]] ReduceCopy reduce_copy(DataType dtype, ReduceOp op);

}  // namespace ringscope::reduce
