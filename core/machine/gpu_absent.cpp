// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/gpu.hpp"

// A build without CUDA: no engine on GPUs is usable, so nobody asks.
namespace ringscope::machine {

std::vector<std::int64_t> sizes_on(bootstrap::Bootstrap&, engine::cuda::GpuEngine) {
    return {};
}

Figures measure_gpu(
    bootstrap::Bootstrap&, engine::cuda::CudaEngine&, engine::cuda::GpuEngine, const Effort&, bool
) {
    throw Error{ExitCode::internal, "this build has no CUDA"};
}

}  // namespace ringscope::machine
