// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace ringscope::engine::host {

inline constexpr std::int32_t max_ranks = 256;

/// What a rank was waiting for when its time was up.
struct StuckRecord {
    std::atomic<std::uint32_t> valid;
    std::int32_t peer, step, chunk, for_credit;  ///< step -1: not in an operation but before it
    std::int64_t slice;
};

/// How often a rank has come to the start gate; on a cache line of its own, written by that rank alone.
struct alignas(64) Arrival {
    std::atomic<std::uint64_t> rounds;
};

/// How the clock of a rank's GPU stands to that of rank 0's host.
struct DeviceClockRecord {
    std::int64_t offset_ns, error_ns;
};

/// One page that all ranks of the host share: the abort word, what each rank was stuck at, and the start
/// gate. Zeroed memory is its initial state.
struct Control {
    alignas(128) std::atomic<std::uint32_t> abort;
    alignas(128) std::atomic<std::uint32_t> terminated;  ///< the signal that told a rank to end, or 0
    alignas(128) std::atomic<std::uint32_t> reporter;    ///< the first to take it reports for the job
    alignas(128) std::atomic<std::int64_t> start_ns;     ///< of the announced window
    alignas(128) std::atomic<std::int64_t> shared;       ///< a value of rank 0
    alignas(128) std::atomic<std::uint32_t> late;
    std::array<Arrival, max_ranks> arrivals;
    std::array<Arrival, max_ranks> recoveries;  ///< likewise, but for meetings after a timeout
    std::array<StuckRecord, max_ranks> stuck;
    alignas(128) std::atomic<std::uint64_t> device_clock_rounds;  ///< which comparison the records are of
    std::array<DeviceClockRecord, max_ranks> device_clocks;       ///< written by rank 0
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "shared between processes");

/// Who waits for whom, in words, the root of the chain first. A rank that others wait for and that waits for
/// nobody itself does not answer; where all wait, a message was lost at the earliest step, for each later
/// wait follows from it.
[[nodiscard]] std::string describe_stuck(const Control& control, std::int32_t ranks);

}  // namespace ringscope::engine::host
