// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/move.hpp"
#include "engine/cuda/kernel/pack.cuh"

namespace ringscope::engine::cuda {

inline constexpr int move_threads = 512;

__device__ inline bool is_aligned(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

/// One pack of the result, of up to 16 bytes, from the sources in their order.
template <class T>
__device__ uint4 combined(const Move& m, std::int64_t at, int bytes) {
    const auto load = [&](int s) {
        return load_user<T, uint4>(m.sources[s] + at, bytes, is_aligned(m.sources[s]));
    };
    const uint4 first = load(0);
    if (m.source_count == 1 && m.divisor == 0) return first;
    auto sum = Wide<T, uint4>::of(first);
#pragma unroll 1
    for (int s = 1; s < m.source_count; ++s) sum.add(m.reduction, load(s));
    return sum.finished(m.divisor);
}

/// A launch begins when its data are there, so it waits for nothing and its loads are plain ones.
template <class T>
__global__ void __launch_bounds__(move_threads) move_packs(const __grid_constant__ Move m) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
#pragma unroll 1
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i * 16 < m.bytes;
         i += stride) {
        const std::int64_t left = m.bytes - 16 * i;
        const int bytes = left < 16 ? static_cast<int>(left) : 16;
        const uint4 result = combined<T>(m, 16 * i, bytes);
#pragma unroll 1
        for (int d = 0; d < m.destination_count; ++d) {
            store_user<T>(m.destinations[d] + 16 * i, result, bytes, is_aligned(m.destinations[d]));
        }
    }
}

}  // namespace ringscope::engine::cuda
