// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/cuda/kernel/memory.cuh"
#include "machine/kernels.hpp"

namespace ringscope::machine {
namespace {

using namespace engine::cuda;

constexpr int copy_threads = 512, blocks_each = 2;
constexpr std::uint32_t polls_between_looks = 1024;

/// The accesses are volatile, so that every pass goes the whole way.
__global__ void __launch_bounds__(copy_threads)
    copy_packs(uint4* to, const uint4* from, std::int64_t packs, std::int64_t passes) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        for (std::int64_t i = first; i < packs; i += stride) store_line(to + i, load_slot(from + i));
    }
}

__device__ bool await(const std::uint64_t* flag, std::uint64_t number, std::int64_t deadline) {
    for (std::uint32_t polls = 1; load_relaxed(flag) != number; ++polls) {
        if (polls % polls_between_looks == 0 && global_ns() > deadline) return false;
    }
    return true;
}

/// The first batch lets the kernels find each other and does not count.
__global__ void bounce_flag(const __grid_constant__ Bounce b) {
    const std::int64_t deadline = global_ns() + b.patience_ns;
    std::uint64_t number = b.first_number;
    std::int64_t shortest = b.patience_ns;
    for (std::uint64_t batch = 0; batch <= bounce_batches; ++batch) {
        const std::int64_t begin = global_ns();
        for (std::uint64_t trip = 0; trip < bounce_trips; ++trip) {
            ++number;
            if (b.leads) store_relaxed(b.there, number);
            if (!await(b.here, number, deadline)) return;
            if (!b.leads) store_relaxed(b.there, number);
        }
        const std::int64_t ns = global_ns() - begin;
        if (batch > 0 && ns < shortest) shortest = ns;
    }
    *b.shortest_ns = shortest;
}

int multiprocessors() {
    int number = 0;
    ringscope::cuda::check(
        cudaDeviceGetAttribute(&number, cudaDevAttrMultiProcessorCount, ringscope::cuda::current_device()),
        "cannot ask for the GPU's multiprocessors"
    );
    return number;
}

}  // namespace

void launch_copy(
    std::byte* to, const std::byte* from, std::int64_t bytes, std::int64_t passes,
    const ringscope::cuda::Stream& stream
) {
    const std::int64_t packs = bytes / std::int64_t{sizeof(uint4)};
    const std::int64_t blocks = std::clamp<std::int64_t>(
        (packs + copy_threads - 1) / copy_threads, 1, std::int64_t{blocks_each} * multiprocessors()
    );
    copy_packs<<<static_cast<unsigned int>(blocks), copy_threads, 0, stream.get()>>>(
        reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from), packs, passes
    );
    ringscope::cuda::check(cudaGetLastError(), "cannot launch the kernel that copies");
}

void launch_bounce(const Bounce& bounce, const ringscope::cuda::Stream& stream) {
    bounce_flag<<<1, 1, 0, stream.get()>>>(bounce);
    ringscope::cuda::check(cudaGetLastError(), "cannot launch the kernel that returns a flag");
}

}  // namespace ringscope::machine
