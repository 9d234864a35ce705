// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/types.hpp"
#include "cuda/cuda.hpp"
#include "engine/cuda/program.hpp"

namespace ringscope::engine::cuda {

inline constexpr int most_ll_threads = 512;
inline constexpr int most_ll128_threads = 512;
inline constexpr int most_simple_threads =
    480;  ///< that copy; one warp more posts: 16 warps leave 128 registers

/// The interpreters of one element type, as the runtime names kernels.
struct Kernels {
    const void* low_latency = nullptr;
    const void* low_latency_traced = nullptr;
    const void* low_latency_128 = nullptr;
    const void* low_latency_128_traced = nullptr;
    const void* simple = nullptr;
    const void* simple_traced = nullptr;
    const void* move = nullptr;  ///< launch_move: no interpreter, one part of an op

    [[nodiscard]] const void* of(Protocol protocol, bool traced) const {
        if (protocol == Protocol::ll) return traced ? low_latency_traced : low_latency;
        if (protocol == Protocol::ll128) return traced ? low_latency_128_traced : low_latency_128;
        return traced ? simple_traced : simple;
    }
};

/// For the types of reduce::has.
[[nodiscard]] Kernels kernels_of(DataType dtype);

void launch(
    const void* kernel, int blocks, int threads, const Launch& launch, const ringscope::cuda::Stream& stream
);

/// Blocks of this kernel that the current device holds at the same time.
[[nodiscard]] int resident_blocks(const void* kernel, int threads);

/// A kernel that does nothing: what a launch itself costs.
void launch_empty(const ringscope::cuda::Stream& stream);

}  // namespace ringscope::engine::cuda
