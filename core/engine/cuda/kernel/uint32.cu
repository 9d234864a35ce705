// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/kernel/kernels.cuh"

namespace ringscope::engine::cuda {

Kernels kernels_uint32() {
    return make_kernels<std::uint32_t>();
}

}  // namespace ringscope::engine::cuda
