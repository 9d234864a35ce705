// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/tables.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ringscope::trace {
namespace {

constexpr std::size_t id_width = 32;
constexpr std::size_t params_width = 128;
constexpr std::size_t marks_width = 128;
constexpr std::size_t health_width = 64;
constexpr std::size_t reason_width = 256;

template <typename Cell>
constexpr CellType cell_type() {
    if constexpr (std::is_same_v<Cell, std::int32_t>) return CellType::int32;
    if constexpr (std::is_same_v<Cell, std::int64_t>) return CellType::int64;
    if constexpr (std::is_same_v<Cell, std::uint8_t>) return CellType::uint8;
    if constexpr (std::is_same_v<Cell, std::uint64_t>) return CellType::uint64;
    if constexpr (std::is_same_v<Cell, double>) return CellType::float64;
}

/// A column of numbers; `get` makes the cell of a row.
template <typename Row, typename Get>
Column<Row> numbers(ColumnSpec spec, Get get) {
    using Cell = std::invoke_result_t<Get, const Row&>;
    spec.type = cell_type<Cell>();
    spec.width = sizeof(Cell);
    return {std::move(spec), [get](const std::vector<Row>& rows, std::byte* cells) {
                for (const Row& row : rows) {
                    const Cell cell = get(row);
                    std::memcpy(cells, &cell, sizeof cell);
                    cells += sizeof cell;
                }
            }};
}

/// A column of texts of a fixed length, padded with null bytes; `get` makes the text of a row.
template <typename Row, typename Get>
Column<Row> texts(ColumnSpec spec, std::size_t width, Get get) {
    spec.type = CellType::text;
    spec.width = width;
    return {std::move(spec), [get, width](const std::vector<Row>& rows, std::byte* cells) {
                for (const Row& row : rows) {
                    const std::string text = fitted(get(row), width);
                    std::memset(cells, 0, width);
                    std::memcpy(cells, text.data(), text.size());
                    cells += width;
                }
            }};
}

/// Type and width are those of the cells that numbers() or texts() makes.
ColumnSpec spec(std::string name, std::string units, std::string long_name) {
    return {std::move(name), CellType::int64, 0, std::move(units), std::move(long_name), {}};
}

template <typename Row, typename Value>
Column<Row> number(Value Row::*field, std::string name, std::string units, std::string long_name) {
    return numbers<Row>(
        spec(std::move(name), std::move(units), std::move(long_name)),
        [field](const Row& row) { return row.*field; }
    );
}

template <typename Row>
Column<Row> flag(bool Row::*field, std::string name, std::string long_name) {
    return numbers<Row>(spec(std::move(name), "1", std::move(long_name)), [field](const Row& row) {
        return static_cast<std::uint8_t>(row.*field ? 1 : 0);
    });
}

template <typename Row, typename Value>
Column<Row> choice(
    Value Row::*field, std::string name, std::string long_name, std::vector<std::string> meanings
) {
    ColumnSpec made = spec(std::move(name), "1", std::move(long_name));
    made.flags = std::move(meanings);
    return numbers<Row>(std::move(made), [field](const Row& row) {
        return static_cast<std::uint8_t>(row.*field);
    });
}

/// A point in time, stored relative to the epoch of the run; "not available" is no time and stays as it is.
template <typename Row>
Column<Row> stamp(std::int64_t Row::*field, std::int64_t epoch_ns, std::string name, std::string long_name) {
    return numbers<Row>(spec(std::move(name), "ns", std::move(long_name)), [field, epoch_ns](const Row& row) {
        return row.*field == not_available ? not_available : row.*field - epoch_ns;
    });
}

template <typename Row>
Column<Row> text(std::string Row::*field, std::size_t width, std::string name, std::string long_name) {
    return texts<Row>(
        spec(std::move(name), "1", std::move(long_name)), width,
        [field](const Row& row) -> std::string_view { return row.*field; }
    );
}

/// A column of the names of an enumeration's values.
template <typename Row, typename Value>
Column<Row> name(Value Row::*field, std::string column, std::string long_name) {
    return texts<Row>(spec(std::move(column), "1", std::move(long_name)), id_width, [field](const Row& row) {
        return name_of(row.*field);
    });
}

std::string_view name_of(CaseStatus status) {
    switch (status) {
        case CaseStatus::ok:
            return "ok";
        case CaseStatus::wrong:
            return "wrong";
        case CaseStatus::timeout:
            return "timeout";
        case CaseStatus::failed:
            return "failed";
        case CaseStatus::skipped:
            return "skipped";
    }
    return "failed";
}

template <typename Row>
std::size_t longest(const std::vector<Row>& rows, std::string Row::*field) {
    std::size_t width = 1;
    for (const Row& row : rows) width = std::max(width, (row.*field).size());
    return width;
}

bool continues_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

std::string fitted(std::string_view text, std::size_t width) {
    constexpr std::string_view mark = "...";
    if (text.size() <= width) return std::string{text};
    std::size_t kept = width > mark.size() ? width - mark.size() : 0;
    while (kept > 0 && continues_character(text[kept])) --kept;
    return std::string{text.substr(0, kept)} + std::string{mark.substr(0, width)};
}

Columns<CaseRow> case_columns() {
    using R = CaseRow;
    return {
        number(&R::case_index, "case", "1", "case, counted in the order of the sweep"),
        text(&R::algorithm, id_width, "algorithm", "algorithm id"),
        text(&R::engine, id_width, "engine", "engine that ran it"),
        text(&R::protocol, id_width, "protocol", "protocol of the links"),
        text(&R::params, params_width, "params", "parameters that the algorithm was run with"),
        number(&R::bytes, "bytes", "byte", "message size of one rank, whole elements"),
        number(&R::count, "count", "1", "elements of one rank"),
        name(&R::dtype, "dtype", "element type"),
        name(&R::op, "op", "reduction"),
        flag(&R::in_place, "in_place", "1 where input and output are the same buffer"),
        number(
            &R::offset, "offset", "1", "elements by which the user buffers are shifted off their alignment"
        ),
        name(&R::mode, "mode", "how operations follow each other"),
        number(&R::channels, "channels", "1", "channels that worked in parallel"),
        number(&R::slots, "slots", "1", "slots of one connection"),
        number(&R::slot_bytes, "slot_bytes", "byte", "size of one slot"),
        number(&R::slices, "slices", "1", "slices of one channel"),
        texts<R>(
            spec("status", "1", "how the case ended: ok, wrong, timeout, failed or skipped"), id_width,
            [](const R& row) { return name_of(row.status); }
        ),
        text(&R::reason, reason_width, "reason", "why it did not end ok"),
        number(&R::wrong, "wrong", "1", "wrong elements over all ranks and iterations"),
        number(
            &R::output_hash, "output_hash", "1",
            "hash of rank 0's output of the last timed iteration; of the same kind on all ranks of a case"
        ),
        number(
            &R::trace_overhead, "trace_overhead", "1",
            "median over blocks of traced / untraced - 1; NaN if not measured"
        ),
        number(
            &R::trace_overhead_low, "trace_overhead_low", "1",
            "lower end of its 95 % interval; NaN for too few blocks"
        ),
        number(
            &R::trace_overhead_high, "trace_overhead_high", "1",
            "upper end of its 95 % interval; NaN for too few blocks"
        ),
        number(
            &R::event_cost_ns, "event_cost_ns", "ns",
            "what tracing costs per event of a rank; NaN if not measured"
        ),
        number(
            &R::empty_kernel_ns, "empty_kernel_ns", "ns",
            "time of an empty kernel in the same mode; NaN where the engine has none"
        ),
        number(
            &R::noise_floor, "noise_floor", "1",
            "how far the statistic of trace_overhead strays from 0 for untraced samples; NaN if not measured"
        ),
        number(
            &R::start_skew_ns, "start_skew_ns", "ns",
            "99th percentile of last entry minus first entry; NaN if not measured"
        ),
        number(
            &R::events_expected, "events_expected", "1",
            "events that the schedule declares for the traced iterations"
        ),
        number(&R::events_written, "events_written", "1", "events recorded"),
        number(&R::events_dropped, "events_dropped", "1", "events lost because a buffer was full"),
        number(
            &R::causality_pairs, "causality_pairs", "1",
            "messages whose order of sending and receiving was checked; -1 if none was"
        ),
        number(
            &R::causality_decisive, "causality_decisive", "1",
            "of these, ordered by more than the error of the clocks; -1 if none was checked"
        ),
        number(
            &R::causality_violations, "causality_violations", "1",
            "of these, received before they were sent; -1 if none was checked"
        ),
        text(&R::marks, marks_width, "marks", "what to be careful with, in words"),
    };
}

Columns<SampleRow> sample_columns(std::int64_t epoch_ns) {
    using R = SampleRow;
    return {
        number(&R::case_index, "case", "1", "case"),
        number(&R::iteration, "iteration", "1", "iteration within the case"),
        number(&R::rank, "rank", "1", "rank"),
        choice(
            &R::state, "state", "what the sample is good for",
            {"ok", "cold", "warmup", "late_start", "aborted", "verify_failed", "clock_moved", "throttled"}
        ),
        flag(&R::traced, "traced", "1 where the iteration was traced"),
        number(&R::ops, "ops", "1", "operations in the sample"),
        stamp(&R::enter_ns, epoch_ns, "enter_ns", "the rank entered the operation"),
        stamp(&R::exit_ns, epoch_ns, "exit_ns", "the rank left the operation"),
        number(
            &R::device_ns, "device_ns", "ns",
            "stop event minus start event on the device; -1 without a device"
        ),
    };
}

Columns<EventRow> event_columns(std::int64_t epoch_ns) {
    using R = EventRow;
    return {
        number(&R::case_index, "case", "1", "case"),
        number(&R::iteration, "iteration", "1", "iteration within the case"),
        number(&R::rank, "rank", "1", "rank that recorded the event"),
        number(&R::channel, "channel", "1", "channel"),
        number(&R::slice, "slice", "1", "slice of the channel"),
        number(&R::op, "op", "1", "op of the rank's program; the rows of one op share it"),
        number(&R::step, "step", "1", "hop of the algorithm; a receive carries its sender's step"),
        choice(
            &R::phase, "phase", "phase of the algorithm",
            {"reduce_scatter", "all_gather", "reduce", "broadcast"}
        ),
        choice(&R::direction, "direction", "which side of the transfer this is", {"send", "recv"}),
        number(&R::peer, "peer", "1", "the rank on the other side"),
        number(
            &R::seq, "seq", "1", "message number on the link; (src, dst, seq) pairs a send with its receive"
        ),
        number(&R::chunk, "chunk", "1", "chunk of the message"),
        number(&R::payload_bytes, "payload_bytes", "byte", "user bytes moved"),
        number(
            &R::wire_bytes, "wire_bytes", "byte", "bytes stored in the peer's memory, with flags and padding"
        ),
        stamp(&R::begin_ns, epoch_ns, "begin_ns", "starts waiting"),
        stamp(&R::ready_ns, epoch_ns, "ready_ns", "first data (recv) or credit (send) there"),
        stamp(&R::end_ns, epoch_ns, "end_ns", "done"),
        stamp(
            &R::posted_ns, epoch_ns, "posted_ns",
            "the first part was handed to the peer (send); -1 for a receive"
        ),
        number(&R::wait_data_ns, "wait_data_ns", "ns", "time spent waiting for data"),
        number(&R::wait_credit_ns, "wait_credit_ns", "ns", "time spent waiting for a free slot"),
        number(&R::begin_ticks, "begin_ticks", "1", "begin as read from the recording clock"),
        number(&R::ready_ticks, "ready_ticks", "1", "ready as read from the recording clock"),
        number(&R::end_ticks, "end_ticks", "1", "end as read from the recording clock"),
    };
}

Columns<TrafficRow> traffic_columns() {
    using R = TrafficRow;
    return {
        number(&R::case_index, "case", "1", "case"),
        number(&R::src, "src", "1", "rank that sends"),
        number(&R::dst, "dst", "1", "rank that receives"),
        number(
            &R::declared_payload, "declared_payload", "byte",
            "user bytes of one operation that the schedule declares"
        ),
        number(&R::declared_wire, "declared_wire", "byte", "the same with flags and padding"),
        number(
            &R::traced_payload, "traced_payload", "byte",
            "user bytes of one operation that were traced; -1 if none was"
        ),
        number(
            &R::traced_wire, "traced_wire", "byte", "the same with flags and padding; -1 if none was traced"
        ),
        number(
            &R::closed_form, "closed_form", "byte",
            "user bytes of one operation by the closed form; -1 where none exists"
        ),
    };
}

Columns<ColdRow> cold_columns() {
    using R = ColdRow;
    return {
        text(&R::phase, id_width, "phase", "phase of the start"),
        number(&R::rank, "rank", "1", "rank"),
        number(&R::case_index, "case", "1", "case; -1 where the phase belongs to none"),
        number(&R::ns, "ns", "ns", "duration of the phase"),
    };
}

Columns<ClockRow> clock_columns(std::int64_t epoch_ns) {
    using R = ClockRow;
    return {
        number(&R::rank, "rank", "1", "rank"),
        number(&R::peer, "peer", "1", "rank that it is compared with"),
        text(&R::clock, id_width, "clock", "which clock of the rank: host or device"),
        text(
            &R::anchor, id_width, "anchor", "when the clocks were compared: before, during or after the sweep"
        ),
        stamp(&R::time_ns, epoch_ns, "time_ns", "the moment of the comparison"),
        number(&R::offset_ns, "offset_ns", "ns", "the rank's clock minus that of the peer"),
        number(&R::slope, "slope", "1", "time of the rank's clock per time of the peer's clock"),
        number(&R::error_bound_ns, "error_bound_ns", "ns", "the offset is right within this bound"),
    };
}

Columns<ClockExchangeRow> clock_exchange_columns() {
    using R = ClockExchangeRow;
    return {
        number(&R::rank, "rank", "1", "rank"),
        number(&R::peer, "peer", "1", "rank that it is compared with"),
        text(&R::clock, id_width, "clock", "which clock of the rank: host or device"),
        text(&R::anchor, id_width, "anchor", "before, during or after the sweep"),
        number(&R::asked_ns, "asked_ns", "ns", "the question was asked, on the peer's clock as read"),
        number(&R::answered_ns, "answered_ns", "ns", "it was answered, on the rank's clock as read"),
        number(&R::heard_ns, "heard_ns", "ns", "the answer was there, on the peer's clock as read"),
    };
}

Columns<MachineRow> machine_columns() {
    using R = MachineRow;
    return {
        text(&R::engine, id_width, "engine", "engine whose memory and copies these are"),
        number(&R::src, "src", "1", "rank that sends"),
        number(&R::dst, "dst", "1", "rank that receives"),
        number(&R::bytes, "bytes", "byte", "size of the transfer"),
        number(&R::latency_ns, "latency_ns", "ns", "one way"),
        number(&R::bandwidth, "bandwidth", "byte/s", "by load and store"),
        number(&R::copy_engine_bandwidth, "copy_engine_bandwidth", "byte/s", "by copy engine"),
        number(&R::reduction_rate, "reduction_rate", "byte/s", "of a reduction of local data"),
    };
}

Columns<HealthRow> health_columns(std::int64_t epoch_ns) {
    using R = HealthRow;
    return {
        number(&R::case_index, "case", "1", "the case that had just ended; -1 before the run, -2 after it"),
        number(&R::rank, "rank", "1", "rank whose device it is; of a host its first rank"),
        text(&R::device, id_width, "device", "PCI address of the GPU, or host"),
        stamp(&R::time_ns, epoch_ns, "time_ns", "the moment of the reading"),
        number(&R::link_gts, "link_gts", "1e9 s-1", "transfers per lane of the GPU's link; NaN if not known"),
        number(&R::link_width, "link_width", "1", "lanes of the GPU's link; -1 if not known"),
        number(
            &R::path_gbps, "path_gbps", "1e9 byte/s",
            "slowest link between the GPU and the root complex; NaN if not known"
        ),
        number(
            &R::aer_correctable, "aer_correctable", "1",
            "corrected PCIe errors of the GPU and all bridges above it so far; -1 if not known"
        ),
        number(&R::aer_nonfatal, "aer_nonfatal", "1", "the same of errors that were not corrected"),
        number(&R::aer_fatal, "aer_fatal", "1", "the same of errors that ended a link"),
        number(&R::xids, "xids", "1", "errors of the driver (Xid) in the kernel's log; -1 if not known"),
        number(&R::sm_clock_mhz, "sm_clock_mhz", "MHz", "clock of the multiprocessors; -1 if not known"),
        text(&R::throttle, health_width, "throttle", "what holds a clock down, in words"),
        number(
            &R::throttled_ns, "throttled_ns", "ns", "how long clocks were held down so far; -1 if not known"
        ),
        number(&R::temperature_c, "temperature_c", "degree_Celsius", "temperature; -1 if not known"),
        number(&R::power_w, "power_w", "W", "power; NaN if not known"),
    };
}

Columns<RankEnvironment> rank_columns(const std::vector<RankEnvironment>& ranks) {
    using R = RankEnvironment;
    const auto wide = [&ranks](std::string R::*field, const char* column, const char* long_name) {
        return text(field, longest(ranks, field), column, long_name);
    };
    return {
        number(&R::rank, "rank", "1", "rank"),
        wide(&R::host, "host", "host name"),
        wide(&R::boot_id, "boot_id", "equal for ranks of one running system"),
        number(&R::pid, "pid", "1", "process id"),
        wide(&R::cpuset, "cpuset", "processors that the rank may use"),
        number(&R::numa_node, "numa_node", "1", "NUMA node; -1 if not bound to one"),
        wide(&R::gpu_name, "gpu_name", "name of the GPU; empty without one"),
        wide(&R::gpu_uuid, "gpu_uuid", "UUID of the GPU; empty without one"),
        wide(&R::gpu_pci_id, "gpu_pci_id", "PCI address of the GPU; empty without one"),
    };
}

Columns<Fact> fact_columns(const std::vector<Fact>& facts) {
    return {
        text(&Fact::name, longest(facts, &Fact::name), "name", "name of the fact"),
        text(&Fact::value, longest(facts, &Fact::value), "value", "value of the fact"),
    };
}

}  // namespace ringscope::trace
