// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/count.hpp"

#include "engine/cuda/kernel/kernels.cuh"

namespace ringscope::gpu {

engine::cuda::CountingKernels counting_kernels() {
    using namespace engine::cuda;
    return {
        .low_latency = reinterpret_cast<const void*>(&play_low_latency<float, CountWatch>),
        .low_latency_128 = reinterpret_cast<const void*>(&play_low_latency_128<float, CountWatch>),
        .simple = reinterpret_cast<const void*>(&play_simple<float, CountWatch>)};
}

}  // namespace ringscope::gpu
