// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bootstrap/bootstrap.hpp"
#include "engine/cuda/engine.hpp"
#include "machine/effort.hpp"
#include "machine/figures.hpp"

namespace ringscope::machine {

/// The sizes that are of interest on an engine, as far as the ranks' GPUs have room for them. [collective]
[[nodiscard]] std::vector<std::int64_t> sizes_on(
    bootstrap::Bootstrap& bootstrap, engine::cuda::GpuEngine engine
);

/// Measures what an engine on GPUs rests on, one ordered pair after the other, in the memory in which it lets
/// ranks meet:
///  - latency: half of a round trip of a flag between two kernels, the shortest mean of 64 of 16 batches, by
///  the
///    GPU's clock; not where the host is in the loop;
///  - bandwidth: a kernel of two blocks per multiprocessor stores a buffer into the receiver's memory; where
///  the
///    host drives, the receiver's loads it from the sender's;
///  - copy-engine bandwidth: the same by cudaMemcpyAsync; not where the host drives, which uses none;
///  - reduction rate: the receiver adds two buffers of float32, by the kernel that plays a part of an op.
/// Each is the best of several attempts, between two events of a stream. [collective] The engine must be
/// usable, and what was prepared on it gone. Throws AgreedError.
[[nodiscard]] Figures measure_gpu(
    bootstrap::Bootstrap& bootstrap, engine::cuda::CudaEngine& cuda, engine::cuda::GpuEngine engine,
    const Effort& effort, bool latencies
);

}  // namespace ringscope::machine
