// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/kernel/kernels.hpp"

#include <algorithm>

#include "engine/cuda/kernel/memory.cuh"
#include "engine/cuda/kernel/move.cuh"

namespace ringscope::engine::cuda {

// One file per element type, so that they compile side by side.
Kernels kernels_float32();
Kernels kernels_float64();
Kernels kernels_float16();
Kernels kernels_bfloat16();
Kernels kernels_int32();
Kernels kernels_int64();
Kernels kernels_uint8();
Kernels kernels_int8();
Kernels kernels_uint32();
Kernels kernels_uint64();

namespace {
__global__ void empty() {}

__global__ void delay(std::int64_t ns) {
    const std::int64_t begin = global_ns();
    while (global_ns() - begin < ns) {
    }
}
}  // namespace

Kernels kernels_of(DataType dtype) {
    switch (dtype) {
        case DataType::float32:
            return kernels_float32();
        case DataType::float64:
            return kernels_float64();
        case DataType::float16:
            return kernels_float16();
        case DataType::bfloat16:
            return kernels_bfloat16();
        case DataType::int32:
            return kernels_int32();
        case DataType::int64:
            return kernels_int64();
        case DataType::uint8:
            return kernels_uint8();
        case DataType::int8:
            return kernels_int8();
        case DataType::uint32:
            return kernels_uint32();
        case DataType::uint64:
            return kernels_uint64();
        case DataType::float8_e4m3:
        case DataType::float8_e5m2:
            break;
    }
    throw Error{ExitCode::internal, "cuda-p2p: no kernels of " + std::string{name_of(dtype)}};
}

void launch(
    const void* kernel, int blocks, int threads, const Launch& launch, const ringscope::cuda::Stream& stream
) {
    void* parameters[] = {const_cast<Launch*>(&launch)};
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned int>(blocks));
    config.blockDim = dim3(static_cast<unsigned int>(threads));
    config.stream = stream.get();
    config.attrs = &overlap;
    config.numAttrs = launch.overlaps != 0 ? 1 : 0;
    ringscope::cuda::check(
        cudaLaunchKernelExC(&config, kernel, parameters), "cannot launch the interpreter kernel"
    );
}

/// Two blocks per multiprocessor of a large GPU keep its memory busy; more would only queue.
void launch_move(const void* kernel, const Move& move, const ringscope::cuda::Stream& stream) {
    constexpr std::int64_t most_blocks = 264, block_bytes = 16 * move_threads;
    const std::int64_t blocks =
        std::clamp<std::int64_t>((move.bytes + block_bytes - 1) / block_bytes, 1, most_blocks);
    void* parameters[] = {const_cast<Move*>(&move)};
    ringscope::cuda::check(
        cudaLaunchKernel(
            kernel, dim3(static_cast<unsigned int>(blocks)), dim3(move_threads), parameters, 0, stream.get()
        ),
        "cannot launch the kernel that reduces"
    );
}

void launch_delay(std::int64_t ns, const ringscope::cuda::Stream& stream) {
    delay<<<1, 1, 0, stream.get()>>>(ns);
    ringscope::cuda::check(cudaGetLastError(), "cannot launch a kernel that waits");
}

int resident_blocks(const void* kernel, int threads) {
    int multiprocessors = 0, blocks = 0;
    ringscope::cuda::check(
        cudaDeviceGetAttribute(
            &multiprocessors, cudaDevAttrMultiProcessorCount, ringscope::cuda::current_device()
        ),
        "cannot ask for the GPU's multiprocessors"
    );
    ringscope::cuda::check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0),
        "cannot ask how many blocks fit on the GPU"
    );
    return blocks * multiprocessors;
}

void launch_empty(const ringscope::cuda::Stream& stream) {
    empty<<<1, 1, 0, stream.get()>>>();
    ringscope::cuda::check(cudaGetLastError(), "cannot launch an empty kernel");
}

}  // namespace ringscope::engine::cuda
