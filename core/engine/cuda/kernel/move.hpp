// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/cuda.hpp"
#include "engine/cuda/program.hpp"

namespace ringscope::engine::cuda {

inline constexpr int most_operands = most_ports + 1;  ///< of an op: the other ranks' and its own

/// The parameters of one launch of the kernel that plays a part of an op whose data are there: combines the
/// sources in this order and stores the result to all destinations.
struct Move {
    const std::byte* sources[most_operands] = {};
    std::byte* destinations[most_operands] = {};
    std::int32_t source_count = 0, destination_count = 0;
    std::int64_t bytes = 0;
    std::int32_t reduction = 0;
    std::int32_t divisor = 0;  ///< > 0 where an avg is finished

    void add_source(const std::byte* source) { sources[source_count++] = source; }
    void add_destination(std::byte* destination) { destinations[destination_count++] = destination; }
};

/// `kernel` is Kernels::move of the element type.
void launch_move(const void* kernel, const Move& move, const ringscope::cuda::Stream& stream);

/// A kernel that does nothing for so long, for tests of what must not depend on luck.
void launch_delay(std::int64_t ns, const ringscope::cuda::Stream& stream);

}  // namespace ringscope::engine::cuda
