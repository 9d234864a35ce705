// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/channel.cuh"

namespace ringscope::engine::cuda {

/// Failed polls between two looks at the clock and at the abort word, which lies in memory of the host: about
/// 5 ms.
inline constexpr std::uint32_t polls_between_looks = 1u << 14;

/// Leaves the record of the first wait of this rank that gave up, and raises the job's abort word.
__device__ inline void report_stuck(
    const Launch& launch, const Op& op, std::int32_t peer, std::int32_t step, bool for_credit
) {
    if (atomicExch(launch.gave_up, 1u) == 0u) {
        volatile Stuck* stuck = launch.stuck;
        stuck->peer = peer;
        stuck->step = step;
        stuck->chunk = op.chunk;
        stuck->for_credit = for_credit ? 1 : 0;
        stuck->slice = op.slice;
        __threadfence_system();
        stuck->valid = 1;
    }
    *static_cast<volatile std::uint32_t*>(launch.abort) = 1;
    // Before anything that this block does from here on can reach a peer.
    __threadfence_system();
}

/// Whether a wait must end: its time is up, another rank gave up, or another thread of this block did. Out of
/// line, for it is rare.
__device__ __noinline__ inline bool must_give_up(
    Channel& channel, const Launch& launch, const Op& op, const Port& port, bool for_credit,
    std::int64_t& since
) {
    if (channel.alive == 0) return true;
    const std::int64_t now = global_ns();
    if (since == 0) since = now;
    const bool aborted = *static_cast<volatile std::uint32_t*>(launch.abort) != 0;
    if (!aborted && now - since < launch.wait_ns) return false;
    report_stuck(launch, op, channel.end(port.end).peer, port.step, for_credit);
    channel.alive = 0;
    return true;
}

/// Polls until `ready()`; false when the wait gave up, and at once when an earlier one did.
template <class Ready>
__device__ bool wait_until(
    Ready ready, Channel& channel, const Launch& launch, const Op& op, const Port& port, bool for_credit
) {
    std::int64_t since = 0;
#pragma unroll 1
    for (std::uint32_t polls = 1; !ready(); ++polls) {
        if (polls % polls_between_looks != 0 && (polls != 1 || channel.alive != 0)) continue;
        if (must_give_up(channel, launch, op, port, for_credit, since)) return false;
    }
    return true;
}

/// The same for a whole warp, which polls and leaves together: `ready()` answers all its lanes alike, and
/// where one lane gives up, all do.
template <class Ready>
__device__ bool wait_as_warp(
    Ready ready, Channel& channel, const Launch& launch, const Op& op, const Port& port
) {
    std::int64_t since = 0;
#pragma unroll 1
    for (std::uint32_t polls = 1; !ready(); ++polls) {
        const bool looks = polls % polls_between_looks == 0;
        if (!looks && polls != 1) continue;
        const bool leaves =
            looks ? must_give_up(channel, launch, op, port, false, since) : channel.alive == 0;
        if (__any_sync(whole_warp, leaves)) return false;
    }
    return true;
}

/// Waits for the other end's counter of a port: data to be there, or a slot to be free again.
__device__ inline bool wait_for_counter(
    Channel& channel, const Launch& launch, const Op& op, const Port& port, bool for_credit,
    std::uint64_t number
) {
    const std::uint64_t least = for_credit ? number - launch.slots : number;
    const auto there = [&] { return static_cast<std::int64_t>(channel.seen[port.end] - least) >= 0; };
    return wait_until(
        [&] {
            if (there()) return true;
            channel.seen[port.end] = load_acquire(counter(launch, port.end));
            return there();
        },
        channel, launch, op, port, for_credit
    );
}

}  // namespace ringscope::engine::cuda
