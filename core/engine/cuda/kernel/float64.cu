// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/kernel/kernels.cuh"

namespace ringscope::engine::cuda {

Kernels kernels_float64() {
    return make_kernels<double>();
}

}  // namespace ringscope::engine::cuda
