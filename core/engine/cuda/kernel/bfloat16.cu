// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/kernel/kernels.cuh"

namespace ringscope::engine::cuda {

Kernels kernels_bfloat16() {
    return make_kernels<reduce::BFloat16>();
}

}  // namespace ringscope::engine::cuda
