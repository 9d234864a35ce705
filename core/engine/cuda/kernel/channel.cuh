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
/// Ports that the records of a window have room for, at most.
inline constexpr int most_window_ports = window_bytes / static_cast<int>(sizeof(Port));

__device__ inline int ports_of_record(const Launch& launch) {
    return (launch.record_stride - static_cast<int>(sizeof(Op))) / static_cast<int>(sizeof(Port));
}

/// What the threads of a block share: the beginning of the channel's image with a window of its records, how
/// far the ends are, and how far the other ends were when last looked at.
struct alignas(16) Channel {
    std::byte image[image_bytes];
    EndState states[most_ends];
    std::uint64_t seen[most_ends];
    int must_prepare_again;  ///< what was prepared is of states that have changed since, or credits are short
    volatile int alive;      ///< 0 once a wait gave up: then nothing is waited for or moved any more

    __device__ const ChannelHead& head() const { return *reinterpret_cast<const ChannelHead*>(image); }
    __device__ const End& end(int index) const {
        return reinterpret_cast<const End*>(image + sizeof(ChannelHead))[index];
    }
};

__device__ inline const std::uint64_t* counter(const Launch& launch, int end) {
    const std::int64_t index = std::int64_t{blockIdx.x} * launch.ends + end;
    return reinterpret_cast<const std::uint64_t*>(launch.counters + index * counter_stride);
}

__device__ inline void copy_words(std::byte* to, const std::byte* from, int bytes, int thread, int threads) {
#pragma unroll 1
    for (int i = thread; i < bytes / 16; i += threads) {
        reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    }
}

__device__ inline void load_image(Channel& channel, const Launch& launch, int thread, int threads) {
    const std::byte* image = launch.image + blockIdx.x * launch.image_stride;
    copy_words(channel.image, image, launch.first_bytes, thread, threads);
    if (thread == 0) {
        channel.alive = 1;
        channel.must_prepare_again = 0;
    }
}

__device__ inline EndState* states_of(const Launch& launch) {
    return launch.states + std::int64_t{blockIdx.x} * launch.ends;
}

/// Past the L1 cache: the kernel before may still be writing them. Returns whether they are other ones than
/// those of the last time.
__device__ inline bool load_states(Channel& channel, const Launch& launch, int lane) {
    bool changed = false;
#pragma unroll 1
    for (int i = lane; i < launch.ends; i += warp_size) {
        const auto state =
            __builtin_bit_cast(EndState, load_slot(reinterpret_cast<const uint4*>(states_of(launch) + i)));
        channel.seen[i] = load_relaxed(counter(launch, i));
        const EndState& last = channel.states[i];
        changed = changed || state.count != last.count || state.position != last.position;
        channel.states[i] = state;
    }
    return changed;
}

/// Whether this operation's sends have not all a free slot yet.
__device__ inline bool is_short_of_credits(const Channel& channel, const Launch& launch, int lane) {
    bool lacks = false;
#pragma unroll 1
    for (int i = channel.head().receiving_ends + lane; i < channel.head().ends; i += warp_size) {
        const std::uint64_t last = channel.states[i].count + channel.end(i).total;
        lacks = lacks || last - channel.seen[i] > launch.slots;
    }
    return lacks;
}

/// The states for the next kernel are known by now and are left at once, so that nothing has to be done at
/// the end; after a wait that gave up they mean nothing.
__device__ inline void leave_states(const Channel& channel, const Launch& launch, int lane) {
#pragma unroll 1
    for (int i = lane; i < channel.head().ends; i += warp_size) {
        const EndState& state = channel.states[i];
        const std::uint32_t total = channel.end(i).total;
        states_of(launch)[i] = {state.count + total, (state.position + total) % launch.slots};
    }
}

/// Makes a block ready to play. Where kernels overlap, the program comes in and is prepared while the one
/// before still runs; the states are guessed by what they are by then, which that one left at its beginning,
/// and are looked at again when it has ended. The last warp cares for them, for it has the least to do.
template <class Player, class Watch>
__device__ void open_channel(Channel& channel, const Launch& launch, Player& player, Watch& watch) {
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int others = threads > warp_size ? threads - warp_size : threads;
    const int lane = thread - (threads - warp_size);
    if (thread < others) load_image(channel, launch, thread, others);
    if (lane >= 0) load_states(channel, launch, lane);
    __syncthreads();
    player.prepare(false);
    await_previous_kernel();
    if (thread < others) {
        player.prefetch();
        watch.open(launch);
    }
    if (lane >= 0) {
        const bool changed = launch.overlaps != 0 && load_states(channel, launch, lane);
        if (changed || is_short_of_credits(channel, launch, lane)) channel.must_prepare_again = 1;
    }
    __syncthreads();
    if (lane >= 0) leave_states(channel, launch, lane);
    let_next_kernel_begin();
    if (channel.must_prepare_again == 0) return;
    player.prepare(true);
    __syncthreads();
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

/// Records of the window that begins with this one.
__device__ inline int window_records(const Channel& channel, const Launch& launch, int first) {
    const int left = channel.head().records - first;
    return left < launch.window ? left : launch.window;
}

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

/// Calls play(n) for one window after the other, with the number of its records; before that prepare(n) for
/// all but the first, which is prepared already.
template <class Barrier, class Prepare, class Play>
__device__ void for_each_window(
    Channel& channel, const Launch& launch, int threads, Barrier barrier, Prepare prepare, Play play
) {
#pragma unroll 1
    for (int first = 0; first < channel.head().records; first += launch.window) {
        const int count = window_records(channel, launch, first);
        if (first > 0) {
            turn_window(channel, launch, first, count, threads, barrier);
            prepare(count);
        }
        play(count);
    }
}

/// Where part `part` of a port's message lies.
__device__ inline std::byte* slot_of(
    const Channel& channel, const Launch& launch, const Port& port, int part
) {
    const End& end = channel.end(port.end);
    std::uint32_t index = channel.states[port.end].position + port.turn + static_cast<std::uint32_t>(part);
    while (index >= launch.slots) index -= launch.slots;
    return end.slots + index * launch.slot_bytes;
}

/// The number of that message on its connection, from 1.
__device__ inline std::uint64_t number_of(const Channel& channel, const Port& port, int part) {
    return channel.states[port.end].count + port.number + static_cast<std::uint64_t>(part) + 1;
}

}  // namespace ringscope::engine::cuda
