// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/row_bytes.hpp"

#include <tuple>
#include <type_traits>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ringscope::trace {
namespace {

/// All fields of a row type. One that is missing here would come back as its default: see the tests.
template <typename Row>
constexpr int fields = 0;

template <>
constexpr auto fields<CaseRow> = std::tuple{
    &CaseRow::case_index,
    &CaseRow::algorithm,
    &CaseRow::engine,
    &CaseRow::protocol,
    &CaseRow::params,
    &CaseRow::bytes,
    &CaseRow::count,
    &CaseRow::dtype,
    &CaseRow::op,
    &CaseRow::in_place,
    &CaseRow::offset,
    &CaseRow::mode,
    &CaseRow::channels,
    &CaseRow::slots,
    &CaseRow::slot_bytes,
    &CaseRow::slices,
    &CaseRow::status,
    &CaseRow::reason,
    &CaseRow::wrong,
    &CaseRow::output_hash,
    &CaseRow::trace_overhead,
    &CaseRow::trace_overhead_low,
    &CaseRow::trace_overhead_high,
    &CaseRow::noise_floor,
    &CaseRow::event_cost_ns,
    &CaseRow::empty_kernel_ns,
    &CaseRow::start_skew_ns,
    &CaseRow::events_expected,
    &CaseRow::events_written,
    &CaseRow::events_dropped,
    &CaseRow::causality_pairs,
    &CaseRow::causality_decisive,
    &CaseRow::causality_violations,
    &CaseRow::marks};

template <>
constexpr auto fields<SampleRow> =
    std::tuple{&SampleRow::case_index, &SampleRow::iteration, &SampleRow::rank,
               &SampleRow::state,      &SampleRow::traced,    &SampleRow::ops,
               &SampleRow::enter_ns,   &SampleRow::exit_ns,   &SampleRow::device_ns};

template <>
constexpr auto fields<EventRow> = std::tuple{
    &EventRow::case_index,    &EventRow::iteration,   &EventRow::rank,         &EventRow::channel,
    &EventRow::slice,         &EventRow::op,          &EventRow::step,         &EventRow::phase,
    &EventRow::direction,     &EventRow::peer,        &EventRow::seq,          &EventRow::chunk,
    &EventRow::payload_bytes, &EventRow::wire_bytes,  &EventRow::begin_ns,     &EventRow::ready_ns,
    &EventRow::end_ns,        &EventRow::posted_ns,   &EventRow::wait_data_ns, &EventRow::wait_credit_ns,
    &EventRow::begin_ticks,   &EventRow::ready_ticks, &EventRow::end_ticks};

template <>
constexpr auto fields<TrafficRow> =
    std::tuple{&TrafficRow::case_index,       &TrafficRow::src,           &TrafficRow::dst,
               &TrafficRow::declared_payload, &TrafficRow::declared_wire, &TrafficRow::traced_payload,
               &TrafficRow::traced_wire,      &TrafficRow::closed_form};

template <>
constexpr auto fields<ColdRow> =
    std::tuple{&ColdRow::phase, &ColdRow::rank, &ColdRow::case_index, &ColdRow::ns};

template <>
constexpr auto fields<ClockRow> =
    std::tuple{&ClockRow::rank,    &ClockRow::peer,      &ClockRow::clock, &ClockRow::anchor,
               &ClockRow::time_ns, &ClockRow::offset_ns, &ClockRow::slope, &ClockRow::error_bound_ns};

template <>
constexpr auto fields<ClockExchangeRow> =
    std::tuple{&ClockExchangeRow::rank,    &ClockExchangeRow::peer,     &ClockExchangeRow::clock,
               &ClockExchangeRow::anchor,  &ClockExchangeRow::asked_ns, &ClockExchangeRow::answered_ns,
               &ClockExchangeRow::heard_ns};

template <>
constexpr auto fields<MachineRow> = std::tuple{
    &MachineRow::engine,
    &MachineRow::src,
    &MachineRow::dst,
    &MachineRow::bytes,
    &MachineRow::latency_ns,
    &MachineRow::bandwidth,
    &MachineRow::copy_engine_bandwidth,
    &MachineRow::reduction_rate};

template <>
constexpr auto fields<HealthRow> = std::tuple{&HealthRow::case_index,    &HealthRow::rank,
                                              &HealthRow::device,        &HealthRow::time_ns,
                                              &HealthRow::link_gts,      &HealthRow::link_width,
                                              &HealthRow::path_gbps,     &HealthRow::aer_correctable,
                                              &HealthRow::aer_nonfatal,  &HealthRow::aer_fatal,
                                              &HealthRow::xids,          &HealthRow::sm_clock_mhz,
                                              &HealthRow::throttle,      &HealthRow::throttled_ns,
                                              &HealthRow::temperature_c, &HealthRow::power_w};

template <>
constexpr auto fields<RankEnvironment> =
    std::tuple{&RankEnvironment::rank,     &RankEnvironment::host,     &RankEnvironment::boot_id,
               &RankEnvironment::pid,      &RankEnvironment::cpuset,   &RankEnvironment::numa_node,
               &RankEnvironment::gpu_name, &RankEnvironment::gpu_uuid, &RankEnvironment::gpu_pci_id};

template <>
constexpr auto fields<Fact> = std::tuple{&Fact::name, &Fact::value};

template <>
constexpr auto fields<RunInfo> = std::tuple{
    &RunInfo::resolved_config,
    &RunInfo::original_config,
    &RunInfo::config_sha256,
    &RunInfo::command_line,
    &RunInfo::creator_version,
    &RunInfo::run_uuid,
    &RunInfo::batch_uuid,
    &RunInfo::file_time,
    &RunInfo::launch_index,
    &RunInfo::seed,
    &RunInfo::world_size,
    &RunInfo::source,
    &RunInfo::epoch_monotonic_ns,
    &RunInfo::epoch_realtime_ns,
    &RunInfo::topology};

template <typename Row, typename Work>
void each_field(Work work) {
    std::apply([&](auto... field) { (work(field), ...); }, fields<Row>);
}

/// Differences wrap around, so any two values have one.
template <typename Value>
std::uint64_t bits_of(Value value) {
    return static_cast<std::uint64_t>(value);
}

template <typename Value>
void write(ByteWriter& bytes, const Value& value, const Value& before) {
    if constexpr (std::is_same_v<Value, std::string>) {
        bytes.text(value);
    } else if constexpr (std::is_floating_point_v<Value>) {
        bytes.real(value);
    } else {
        bytes.integer(static_cast<std::int64_t>(bits_of(value) - bits_of(before)));
    }
}

template <typename Value>
void read(ByteReader& bytes, Value& value, const Value& before) {
    if constexpr (std::is_same_v<Value, std::string>) {
        value = bytes.text();
    } else if constexpr (std::is_floating_point_v<Value>) {
        value = bytes.real();
    } else {
        value = static_cast<Value>(bits_of(before) + bits_of(bytes.integer()));
    }
}

[[noreturn]] void fail() {
    throw Error{ExitCode::output, "packed rows are damaged: they are not as many as announced"};
}

}  // namespace

template <typename Row>
std::string to_bytes(std::span<const Row> rows) {
    ByteWriter bytes;
    const Row none{};
    const Row* before = &none;
    for (const Row& row : rows) {
        each_field<Row>([&](auto field) { write(bytes, row.*field, before->*field); });
        before = &row;
    }
    return bytes.take();
}

template <typename Row>
std::vector<Row> from_bytes(std::string_view bytes, std::int64_t count) {
    if (count < 0 || count > std::ssize(bytes)) fail();  // a row takes more than a byte
    std::vector<Row> rows(static_cast<std::size_t>(count));
    ByteReader reader{bytes};
    const Row none{};
    const Row* before = &none;
    for (Row& row : rows) {
        each_field<Row>([&](auto field) { read(reader, row.*field, before->*field); });
        before = &row;
    }
    if (!reader.at_end()) fail();
    return rows;
}

#define RINGSCOPE_ROW_BYTES(Row)                         \
    template std::string to_bytes(std::span<const Row>); \
    template std::vector<Row> from_bytes(std::string_view, std::int64_t);
RINGSCOPE_ROW_BYTES(CaseRow)
RINGSCOPE_ROW_BYTES(SampleRow)
RINGSCOPE_ROW_BYTES(EventRow)
RINGSCOPE_ROW_BYTES(TrafficRow)
RINGSCOPE_ROW_BYTES(ColdRow)
RINGSCOPE_ROW_BYTES(ClockRow)
RINGSCOPE_ROW_BYTES(ClockExchangeRow)
RINGSCOPE_ROW_BYTES(MachineRow)
RINGSCOPE_ROW_BYTES(HealthRow)
RINGSCOPE_ROW_BYTES(RankEnvironment)
RINGSCOPE_ROW_BYTES(Fact)
RINGSCOPE_ROW_BYTES(RunInfo)
#undef RINGSCOPE_ROW_BYTES

}  // namespace ringscope::trace
