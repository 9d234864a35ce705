// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/collective.hpp"

#include <algorithm>
#include <cstddef>

#include "base/time.hpp"
#include "engine/host/engine.hpp"

namespace ringscope::engine::cuda {
namespace {

namespace wall = ringscope::cuda;

// The kernel writes a record where the host reads one.
static_assert(sizeof(Stuck) == sizeof(host::StuckRecord));
static_assert(offsetof(Stuck, slice) == offsetof(host::StuckRecord, slice));
static_assert(offsetof(Stuck, for_credit) == offsetof(host::StuckRecord, for_credit));

/// The device's address of something on the control page.
template <class T>
T* on_device(host::Control& control, const wall::HostRegistration& registration, const void* host) {
    const auto offset = static_cast<const std::byte*>(host) - reinterpret_cast<std::byte*>(&control);
    return reinterpret_cast<T*>(static_cast<std::byte*>(registration.device_address()) + offset);
}

bool is_aligned(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

}  // namespace

void DeviceCopy::enqueue(const Operation& operation) {
    if (operation.input == operation.output) return;
    wall::copy_on_device(operation.output, operation.input, bytes_, stream());
}

Interpreter::Interpreter(
    host::Control& control, const wall::HostRegistration& registration, const std::byte* connections,
    const Layout& layout, Image image, DeviceClocks& clocks, const InterpreterOptions& options,
    std::shared_ptr<const wall::Stream> own_stream
)
    : StreamCollective{options.mode, std::move(own_stream)},
      control_{control},
      clocks_{clocks},
      options_{options},
      image_{std::move(image)},
      kernels_{kernels_of(options.dtype)},
      device_image_{std::ssize(image_.bytes)},
      states_{options.channels * std::int64_t{layout.ends()} * static_cast<std::int64_t>(sizeof(EndState))},
      gave_up_{sizeof(std::uint32_t)},
      traced_{options.channels * static_cast<std::int64_t>(sizeof(std::uint32_t))} {
    wall::copy_to_device(device_image_.data(), image_.bytes.data(), std::ssize(image_.bytes), stream());
    const EndState first{
        options.first_number,
        static_cast<std::uint32_t>(options.first_number % static_cast<std::uint64_t>(options.slots))};
    const std::vector<EndState> states(
        static_cast<std::size_t>(options.channels) * static_cast<std::size_t>(layout.ends()), first
    );
    wall::copy_to_device(states_.data(), states.data(), states_.bytes(), stream());
    wall::zero(gave_up_.data(), gave_up_.bytes(), stream());
    stream().synchronize();
    launch_.states = reinterpret_cast<EndState*>(states_.data());
    launch_.image = device_image_.data();
    launch_.image_stride = image_.stride;
    launch_.counters = connections;
    launch_.ends = layout.ends();
    launch_.records_at = image_.records_at;
    launch_.record_stride = image_.record_stride;
    launch_.first_bytes = image_.first_bytes;
    launch_.window = image_.window;
    launch_.late_credits = image_.fits_twice ? 1 : 0;
    launch_.reduction = static_cast<std::int32_t>(options.op);
    launch_.overlaps = options.overlaps ? 1 : 0;
    launch_.slots = static_cast<std::uint32_t>(options.slots);
    launch_.slot_bytes = options.slot_bytes;
    launch_.wait_ns = options.wait_ns;
    launch_.rows_per_operation = std::ssize(image_.rows);
    launch_.traced = reinterpret_cast<std::uint32_t*>(traced_.data());
    launch_.abort = on_device<std::uint32_t>(control, registration, &control.abort);
    launch_.stuck =
        on_device<Stuck>(control, registration, &control.stuck[static_cast<std::size_t>(options.rank)]);
    launch_.gave_up = reinterpret_cast<std::uint32_t*>(gave_up_.data());
    if (options.counting.counted == nullptr) return;
    launch_.counted = options.counting.counted;
    kernels_.low_latency = options.counting.low_latency;
    kernels_.low_latency_128 = options.counting.low_latency_128;
    kernels_.simple = options.counting.simple;
}

void Interpreter::enqueue(const Operation& operation) {
    launch_on(operation, false);
}

void Interpreter::launch_on(const Operation& operation, bool traced) {
    launch_.input = operation.input;
    launch_.output = operation.output;
    launch_.aligned = is_aligned(operation.input) && is_aligned(operation.output) ? 1 : 0;
    if (options_.direct && launch_.aligned == 0)
        throw Error{
            ExitCode::internal, "user buffers that kernels reach directly must be aligned to 16 bytes"};
    launch(kernels_.of(options_.protocol, traced), options_.channels, options_.threads, launch_, stream());
}

/// A kernel ends by itself when it gave up. Where it does not, something is broken that no wait bounds.
void Interpreter::while_waiting(std::int64_t) {
    constexpr std::int64_t grace_ns = 5'000'000'000;
    if (control_.abort.load(std::memory_order_relaxed) == 0) return;
    if (aborted_since_ns_ == 0) aborted_since_ns_ = now_ns();
    if (now_ns() - aborted_since_ns_ > grace_ns) give_up(false);
}

void Interpreter::after() {
    if (control_.abort.load(std::memory_order_acquire) != 0) give_up(true);
}

void Interpreter::give_up(bool is_over) const {
    throw host::StuckError{host::stuck_message(control_, options_.ranks, options_.wait_ns), is_over};
}

void Interpreter::enqueue_traced(const Operation& operation) {
    launch_on(operation, true);
}

/// A graph keeps the address of the rows, so their memory is there before it is built.
void Interpreter::arm(std::span<const Operation> operations, EventLog* traced) {
    if (traced != nullptr) reserve_rows(operations.size());
    StreamCollective::arm(operations, traced);
    if (traced != nullptr) clear_rows();
}

/// Before the ranks start together: one that did this while another's kernel waits might have to wait itself.
void Interpreter::clear_rows() {
    wall::zero(rows_.data(), rows_.bytes(), stream());
    wall::zero(traced_.data(), traced_.bytes(), stream());
    stream().synchronize();
}

void Interpreter::reserve_rows(std::size_t operations) {
    const auto bytes =
        static_cast<std::int64_t>(std::max<std::size_t>(1, operations * image_.rows.size()) * sizeof(Row));
    if (rows_.bytes() < bytes) rows_ = wall::DeviceMemory{bytes};
    launch_.rows = reinterpret_cast<Row*>(rows_.data());
}

/// The clocks are compared right after, so that drift does not add up over a run.
Timing Interpreter::sample_traced(std::span<const Operation> operations, EventLog& events) {
    Timing timing = timed_operations(operations, true);
    std::vector<Row> rows = fetch_rows(operations.size());
    const DeviceClock clock = clocks_.measure(stream());
    timing.events_error_ns = clock.error_ns;
    timing.on_common_clock = clock.is_common;
    timing.device_ahead_ns = clock.ahead_ns;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const auto operation = std::span{rows}.subspan(i * image_.rows.size(), image_.rows.size());
        if (options_.protocol != Protocol::simple) complete_rows(operation, image_.rows);
        events.begin_operation(static_cast<std::int32_t>(i));
        keep(operation, clock.offset_ns, events);
    }
    return timing;
}

std::vector<Row> Interpreter::fetch_rows(std::size_t operations) {
    std::vector<Row> rows(operations * image_.rows.size());
    wall::copy_to_host(
        rows.data(), rows_.data(), std::ssize(rows) * static_cast<std::int64_t>(sizeof(Row)), stream()
    );
    stream().synchronize();
    return rows;
}

void Interpreter::keep(std::span<const Row> rows, std::int64_t offset_ns, EventLog& events) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const RowInfo& info = image_.rows[i];
        const Row& row = rows[i];
        const bool sent = info.direction == trace::Direction::send;
        events.add(
            {.channel = info.channel,
             .op = info.op,
             .message = info.message,
             .direction = info.direction,
             .payload_bytes = row.payload,
             .wire_bytes = row.wire,
             .begin_ns = row.begin - offset_ns,
             .ready_ns = row.ready - offset_ns,
             .end_ns = row.end - offset_ns,
             .posted_ns = sent ? row.posted - offset_ns : trace::not_available,
             .wait_ns = row.wait,
             .begin_ticks = row.begin,
             .ready_ticks = row.ready,
             .end_ticks = row.end}
        );
    }
}

std::int64_t measure_empty(const wall::Stream& stream, Mode mode) {
    constexpr int samples = 21, kernels = 20;
    const int batch = mode == Mode::isolated ? 1 : kernels;
    wall::Event start, stop;
    wall::Graph graph;
    const auto enqueue = [&] {
        for (int i = 0; i < batch; ++i) launch_empty(stream);
    };
    if (mode == Mode::graph) graph.capture(stream, enqueue);
    std::vector<std::int64_t> times;
    for (int i = 0; i < samples; ++i) {
        start.record(stream);
        if (mode == Mode::graph) {
            graph.launch(stream);
        } else {
            enqueue();
        }
        stop.record(stream);
        stream.synchronize();
        times.push_back(stop.ns_since(start) / batch);
    }
    std::ranges::nth_element(times, times.begin() + samples / 2);
    return times[samples / 2];
}

}  // namespace ringscope::engine::cuda
