// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/engine.hpp"

namespace ringscope::gpu {

/// The interpreters of float32 with every thread counting the bytes that it stores into peers' slots.
[[nodiscard]] engine::cuda::CountingKernels counting_kernels();

}  // namespace ringscope::gpu
