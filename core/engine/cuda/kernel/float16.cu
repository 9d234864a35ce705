// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/kernel/kernels.cuh"

namespace ringscope::engine::cuda {

Kernels kernels_float16() {
    return make_kernels<reduce::Half>();
}

}  // namespace ringscope::engine::cuda
