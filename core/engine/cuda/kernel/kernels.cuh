// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/kernels.hpp"
#include "engine/cuda/kernel/low_latency.cuh"
#include "engine/cuda/kernel/low_latency_128.cuh"
#include "engine/cuda/kernel/move.cuh"
#include "engine/cuda/kernel/simple.cuh"
#include "engine/cuda/kernel/watch.cuh"

namespace ringscope::engine::cuda {

/// Plays a rank's program: block b is channel b.
template <class T, class Watch>
__global__ void __launch_bounds__(most_ll_threads, 1)
    play_low_latency(const __grid_constant__ Launch launch) {
    __shared__ Channel channel;
    __shared__ PlainOp plain_ops[most_records];
    __shared__ typename Watch::Board board;
    Watch watch{board, launch};
    LowLatency<T, Watch> player{channel, plain_ops, launch, watch};
    open_channel(channel, launch, player, watch);
    player.play();
    watch.close(channel, launch);
}

template <class T, class Watch>
__global__ void __launch_bounds__(most_ll128_threads, 1)
    play_low_latency_128(const __grid_constant__ Launch launch) {
    __shared__ Channel channel;
    __shared__ LineWindow window;
    __shared__ typename Watch::Board board;
    Watch watch{board, launch};
    LowLatency128<T, Watch> player{channel, window, launch, watch};
    open_channel(channel, launch, player, watch);
    player.play();
    watch.close(channel, launch);
}

template <class T, class Watch>
__global__ void __launch_bounds__(most_simple_threads + warp_size, 1)
    play_simple(const __grid_constant__ Launch launch) {
    __shared__ Channel channel;
    __shared__ Handover handover;
    __shared__ typename Watch::Board board;
    Watch watch{board, launch};
    Simple<T, Watch> player{channel, handover, launch, watch};
    open_channel(channel, launch, player, watch);
    player.play();
    watch.close(channel, launch);
}

template <class T>
Kernels make_kernels() {
    return {
        .low_latency = reinterpret_cast<const void*>(&play_low_latency<T, NoWatch>),
        .low_latency_traced = reinterpret_cast<const void*>(&play_low_latency<T, TraceWatch>),
        .low_latency_128 = reinterpret_cast<const void*>(&play_low_latency_128<T, NoWatch>),
        .low_latency_128_traced = reinterpret_cast<const void*>(&play_low_latency_128<T, TraceWatch>),
        .simple = reinterpret_cast<const void*>(&play_simple<T, NoWatch>),
        .simple_traced = reinterpret_cast<const void*>(&play_simple<T, TraceWatch>),
        .move = reinterpret_cast<const void*>(&move_packs<T>)};
}

}  // namespace ringscope::engine::cuda
