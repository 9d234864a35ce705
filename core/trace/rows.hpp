// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/types.hpp"

/// The rows of a trace file, as plain values: what the runner gathers and the writer stores. Field names are
/// the column names of schema `ringscope-trace`; see docs/trace-schema.md. Times are int64 ns of
/// CLOCK_MONOTONIC of rank 0's host until the writer subtracts the run's epoch.
namespace ringscope::trace {

inline constexpr std::int64_t not_available = -1;
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();  ///< a measure that was not taken

enum class CaseStatus : std::uint8_t { ok, wrong, timeout, failed, skipped };
/// Stored as numbers: new ones come at the end.
enum class SampleState : std::uint8_t {
    ok,
    cold,
    warmup,
    late_start,
    aborted,
    verify_failed,
    clock_moved,
    throttled
};
enum class Direction : std::uint8_t { send, recv };

struct CaseRow {
    std::int32_t case_index = 0;  ///< column `case`
    std::string algorithm, engine, protocol;
    std::string params;  ///< "channels=2 slots=8"; empty where none were asked for
    std::int64_t bytes = 0, count = 0;
    DataType dtype = DataType::float32;
    ReduceOp op = ReduceOp::sum;
    bool in_place = false;
    std::int64_t offset = 0;
    Mode mode = Mode::isolated;
    std::int32_t channels = 0, slots = 0;
    std::int64_t slot_bytes = 0, slices = 0;
    CaseStatus status = CaseStatus::ok;
    std::string reason;
    std::int64_t wrong = 0;         ///< elements, over all ranks and timed iterations
    std::uint64_t output_hash = 0;  ///< XXH3 of rank 0's output of the last timed iteration
    double trace_overhead = nan;    ///< median of traced / untraced - 1 over the blocks
    double trace_overhead_low = nan, trace_overhead_high = nan;  ///< its interval
    double noise_floor = nan;      ///< how far the same statistic of untraced samples strays from 0
    double event_cost_ns = nan;    ///< what tracing costs, per event of a rank
    double empty_kernel_ns = nan;  ///< time of an empty kernel in the same mode; NaN where there is none
    double start_skew_ns = nan;    ///< 99th percentile of last entry minus first entry
    std::int64_t events_expected = 0, events_written = 0, events_dropped = 0;
    std::int64_t causality_pairs = not_available, causality_decisive = not_available,
                 causality_violations = not_available;
    std::string marks;  ///< words that say what to be careful with: "sync-limited suspect"
};

struct SampleRow {
    std::int32_t case_index = 0;
    std::int64_t iteration = 0;
    std::int32_t rank = 0;
    SampleState state = SampleState::ok;
    bool traced = false;
    std::int64_t ops = 1;
    std::int64_t enter_ns = 0, exit_ns = 0;
    std::int64_t device_ns = not_available;
};

/// One row per (op, direction, peer). begin = starts waiting, ready = first data (recv) or credit (send)
/// there, end = done. (src, dst, seq) pairs a send with its receive.
struct EventRow {
    std::int32_t case_index = 0;
    std::int64_t iteration = 0;
    std::int32_t rank = 0;
    std::int32_t channel = 0;
    std::int64_t slice = 0;
    std::int64_t op = 0;
    std::int32_t step = 0;
    std::int32_t phase = 0;
    Direction direction = Direction::send;
    std::int32_t peer = 0;
    std::int64_t seq = 0;
    std::int32_t chunk = 0;
    std::int64_t payload_bytes = 0, wire_bytes = 0;
    std::int64_t begin_ns = 0, ready_ns = 0, end_ns = 0;
    std::int64_t posted_ns = not_available;  ///< of a send: its first part was handed to the peer
    std::int64_t wait_data_ns = 0, wait_credit_ns = 0;
    std::int64_t begin_ticks = 0, ready_ticks = 0, end_ticks = 0;  ///< as read from the device's clock
};

struct TrafficRow {
    std::int32_t case_index = 0, src = 0, dst = 0;
    std::int64_t declared_payload = 0, declared_wire = 0;
    std::int64_t traced_payload = not_available, traced_wire = not_available;  ///< of one operation
    std::int64_t closed_form = not_available;
};

/// `phase` is one of: process_start, mpi_init, plugin_load, config, bootstrap, machine, output, health,
/// nccl_init, ipc_open, first_launch, prepare, first_collective, total, steady_state.
struct ColdRow {
    std::string phase;
    std::int32_t rank = 0;
    std::int32_t case_index = -1;  ///< column `case`; -1 where the phase belongs to none
    std::int64_t ns = 0;           ///< duration of the phase
};

/// How the clock of a rank stood to that of another rank, at one moment.
struct ClockRow {
    std::int32_t rank = 0, peer = 0;
    std::string clock = "host";  ///< or "device"
    std::string anchor;          ///< "before", "during", "after"
    std::int64_t time_ns = 0;    ///< when, on the clock of rank 0's host
    std::int64_t offset_ns = 0;
    double slope = 1;
    std::int64_t error_bound_ns = 0;
};

/// One question of a comparison: asked and heard on the peer's clock, answered on the rank's.
struct ClockExchangeRow {
    std::int32_t rank = 0, peer = 0;
    std::string clock = "host", anchor;
    std::int64_t asked_ns = 0, answered_ns = 0, heard_ns = 0;  ///< as read, before any alignment
};

struct MachineRow {
    std::string engine;  ///< whose memory and copies these are: "host-shm", "cuda-p2p"
    std::int32_t src = 0, dst = 0;
    std::int64_t bytes = 0, latency_ns = 0;
    double bandwidth = 0, copy_engine_bandwidth = 0, reduction_rate = 0;  ///< byte/s
};

inline constexpr std::int32_t before_the_run = -1, after_the_run = -2;  ///< instead of a case
inline constexpr const char* host_device = "host";

/// What the way from the host to a GPU was like at one moment, and what held clocks down; of a host its
/// processors alone.
struct HealthRow {
    std::int32_t case_index = before_the_run;  ///< column `case`: the one that had just ended
    std::int32_t rank = 0;                     ///< whose GPU it is; of a host its first rank
    std::string device{};                      ///< PCI address, or "host"
    std::int64_t time_ns = 0;
    double link_gts = nan;  ///< GT/s per lane of the GPU's own link
    std::int32_t link_width = not_available;
    double path_gbps = nan;  ///< GB/s of the slowest link between the GPU and the root complex
    std::int64_t aer_correctable = not_available, aer_nonfatal = not_available, aer_fatal = not_available;
    std::int64_t xids = not_available;  ///< errors of the driver in the kernel's log
    std::int32_t sm_clock_mhz = not_available;
    std::string throttle{};                     ///< what holds the clock down, in words
    std::int64_t throttled_ns = not_available;  ///< so far
    std::int32_t temperature_c = not_available;
    double power_w = nan;
};

struct RankEnvironment {
    std::int32_t rank = 0;
    std::string host, boot_id;
    std::int64_t pid = 0;
    std::string cpuset;  ///< "0-3,8"
    std::int32_t numa_node = -1;
    std::string gpu_name, gpu_uuid, gpu_pci_id;  ///< empty without a GPU
};

/// A named fact: a version, an allow-listed variable, a setting of the machine.
struct Fact {
    std::string name, value;
};

struct RunInfo {
    std::string resolved_config, original_config, config_sha256, command_line;
    std::string creator_version, run_uuid, batch_uuid, file_time;  ///< file_time: ISO 8601 with zone
    std::int64_t launch_index = 0, seed = 0;
    std::int32_t world_size = 1;
    std::string source = "measured";  ///< or "simulated"
    std::int64_t epoch_monotonic_ns = 0, epoch_realtime_ns = 0;
    std::vector<RankEnvironment> ranks;
    std::vector<Fact> facts;
    std::string topology;  ///< of rank 0's host, as hwloc's XML; or ""
};

}  // namespace ringscope::trace
