// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/memory.cuh"
#include "engine/cuda/program.hpp"

namespace ringscope::engine::cuda {

inline constexpr int warp_size = 32;
inline constexpr unsigned int whole_warp = 0xffffffffu;
inline constexpr int image_bytes = sizeof(ChannelHead) + most_ends * sizeof(End) + window_bytes;

/// Records of a window, at least: an op with one port.
inline constexpr int most_records = window_bytes / static_cast<int>(sizeof(Op) + sizeof(Port));

/// What the threads of a block share: the beginning of the channel's image, a window of its records, and how
/// far the other ends were when last looked at.
struct alignas(16) Channel {
    std::byte image[image_bytes];
    std::uint64_t seen[most_ends];
    volatile int alive;  ///< 0 once a wait gave up: then nothing is waited for or moved any more

    __device__ const ChannelHead& head() const { return *reinterpret_cast<const ChannelHead*>(image); }
    __device__ const End& end(int index) const {
        return reinterpret_cast<const End*>(image + sizeof(ChannelHead))[index];
    }
};

__device__ inline const std::uint64_t* counter(const Launch& launch, int end) {
    const std::int64_t index = std::int64_t{blockIdx.x} * launch.ends + end;
    return reinterpret_cast<const std::uint64_t*>(launch.counters + index * counter_stride);
}

__device__ inline End* own_ends(const Launch& launch) {
    return reinterpret_cast<End*>(launch.image + blockIdx.x * launch.image_stride + sizeof(ChannelHead));
}

__device__ inline void copy_words(std::byte* to, const std::byte* from, int bytes, int thread, int threads) {
#pragma unroll 1
    for (int i = thread; i < bytes / 16; i += threads) {
        reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    }
}

/// Image and counters come in one round of independent loads. The counters for the next kernel are known by
/// then and are left at once, so that nothing has to be done at the end; after a wait that gave up they mean
/// nothing.
__device__ inline void open_channel(Channel& channel, const Launch& launch) {
    const std::byte* image = launch.image + blockIdx.x * launch.image_stride;
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    copy_words(channel.image, image, launch.first_bytes, thread, threads);
#pragma unroll 1
    for (int i = thread; i < launch.ends; i += threads) channel.seen[i] = load_relaxed(counter(launch, i));
    if (thread == 0) channel.alive = 1;
    __syncthreads();
#pragma unroll 1
    for (int i = thread; i < channel.head().ends; i += threads) {
        const End& end = channel.end(i);
        End& kept = own_ends(launch)[i];
        kept.count = end.count + end.total;
        kept.position = (end.position + end.total) % launch.slots;
    }
}

/// A record in the window: an op and, behind it, its ports.
struct Record {
    const Op& op;
    const Port* ports;

    /// By its place in the window.
    __device__ static Record at(const Channel& channel, const Launch& launch, int index) {
        const std::byte* record = channel.image + launch.records_at + index * launch.record_stride;
        return {*reinterpret_cast<const Op*>(record), reinterpret_cast<const Port*>(record + sizeof(Op))};
    }
    __device__ int port_count() const { return op.recvs + op.sends; }
};

/// Brings the next records in. `barrier` holds the threads that play.
template <class Barrier>
__device__ void turn_window(
    Channel& channel, const Launch& launch, int first, int count, int threads, Barrier barrier
) {
    barrier();
    const std::byte* from = launch.image + blockIdx.x * launch.image_stride + launch.records_at +
                            std::int64_t{first} * launch.record_stride;
    const int bytes = count * launch.record_stride;
    copy_words(channel.image + launch.records_at, from, bytes, static_cast<int>(threadIdx.x), threads);
    barrier();
}

/// Calls play(n) for one window after the other, with the number of its records.
template <class Barrier, class Play>
__device__ void for_each_window(
    Channel& channel, const Launch& launch, int threads, Barrier barrier, Play play
) {
    const int records = channel.head().records;
#pragma unroll 1
    for (int first = 0; first < records; first += launch.window) {
        const int count = records - first < launch.window ? records - first : launch.window;
        if (first > 0) turn_window(channel, launch, first, count, threads, barrier);
        play(count);
    }
}

/// Where part `part` of a port's message lies.
__device__ inline std::byte* slot_of(
    const Channel& channel, const Launch& launch, const Port& port, int part
) {
    const End& end = channel.end(port.end);
    std::uint32_t index = end.position + port.place + static_cast<std::uint32_t>(part);
    while (index >= launch.slots) index -= launch.slots;
    return end.slots + index * launch.slot_bytes;
}

/// The number of that message on its connection, from 1.
__device__ inline std::uint64_t number_of(const Channel& channel, const Port& port, int part) {
    return channel.end(port.end).count + port.number + static_cast<std::uint64_t>(part) + 1;
}

}  // namespace ringscope::engine::cuda
