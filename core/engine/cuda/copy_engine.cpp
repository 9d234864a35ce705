// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/copy_engine.hpp"

#include <algorithm>
#include <atomic>

#include "base/time.hpp"
#include "cuda/memory_ops.hpp"
#include "engine/cuda/clock.hpp"
#include "engine/cuda/kernel/move.hpp"
#include "engine/host/engine.hpp"

namespace ringscope::engine::cuda {
namespace {

namespace wall = ringscope::cuda;

/// Legs between two marks. Eight marks are in flight, so that a stream's queue is never full: the host would
/// be held in a call that no deadline bounds.
constexpr std::size_t legs_per_mark = 64;

std::uint64_t* counter_at(std::byte* window, std::int64_t offset) {
    return reinterpret_cast<std::uint64_t*>(window + offset);
}

std::uint64_t load(std::uint64_t* counter) {
    return std::atomic_ref{*counter}.load(std::memory_order_acquire);
}

/// As the streams compare.
bool has_come(std::uint64_t counter, std::uint64_t value) {
    return static_cast<std::int64_t>(counter - value) >= 0;
}

}  // namespace

CopyEngine::CopyEngine(
    host::Control& control, const StagedWindows& windows, Legs legs, DeviceClocks& clocks,
    const CopyEngineOptions& options, std::shared_ptr<const Stream> own_stream
)
    : StreamCollective{Mode::isolated, std::move(own_stream)},
      control_{control},
      clocks_{clocks},
      windows_{windows},
      legs_{std::move(legs)},
      options_{options},
      kernel_{kernels_of(options.dtype).move},
      staging_{std::max<std::int64_t>(1, legs_.staging_slots * options.slot_bytes)},
      anchor_stamp_{sizeof(std::int64_t)},
      done_(legs_.legs.size()),
      waiter_{control, options.rank, options.wait_ns, false} {
    for (const Leg& leg : legs_.legs) {
        for (const std::int32_t before : leg.after) {
            if (before >= 0) done_[static_cast<std::size_t>(before)] = std::make_unique<Event>(false);
        }
    }
}

void CopyEngine::enqueue(const Operation& operation) {
    fork();
    for (std::size_t leg = 0; leg < legs_.legs.size(); ++leg) {
        play(leg, operation);
        bound_queue();
    }
    join();
    ++operations_;
}

/// The lanes of an operation begin when what came before on the stream is done, and end together.
void CopyEngine::fork() const {
    begin_.record(stream());
    receive_.wait_for(begin_);
    send_.wait_for(begin_);
}

void CopyEngine::join() const {
    received_.record(receive_);
    sent_.record(send_);
    stream().wait_for(received_);
    stream().wait_for(sent_);
}

void CopyEngine::play(std::size_t index, const Operation& operation) {
    const Leg& leg = legs_.legs[index];
    for (const std::int32_t before : leg.after) {
        if (before >= 0) stream_of(leg.lane).wait_for(*done_[static_cast<std::size_t>(before)]);
    }
    switch (leg.work) {
        case Work::await:
            await(leg);
            break;
        case Work::combine:
            combine(leg, operation);
            break;
        case Work::fetch:
        case Work::put:
            copy(leg);
            break;
        case Work::post:
            post(leg);
            break;
    }
    if (done_[index]) done_[index]->record(stream_of(leg.lane));
}

/// On the link since its first message, from 1.
std::uint64_t CopyEngine::number_of(const Leg& leg) const {
    return options_.first_number + operations_ * link_of(leg).total + leg.number;
}

std::int64_t CopyEngine::slot_at(const Leg& leg) const {
    const std::uint64_t slot = (number_of(leg) - 1) % static_cast<std::uint64_t>(options_.slots);
    return link_of(leg).slots_at + static_cast<std::int64_t>(slot) * options_.slot_bytes;
}

/// A message, or that the one which lay in its slot before was read.
void CopyEngine::await(const Leg& leg) {
    const Link& link = link_of(leg);
    const std::uint64_t number = number_of(leg);
    const std::uint64_t value = link.sends ? number - static_cast<std::uint64_t>(options_.slots) : number;
    if (awaited_.empty()) since_ns_ = now_ns();
    awaited_.push_back({counter_at(windows_.on_host(options_.rank), link.counter_at), value, &leg.where});
    if (traced_) stamps_[stamped_].begin.record(stream_of(leg.lane));
    wall::wait_for_counter(
        stream_of(leg.lane), counter_at(windows_.on_device(options_.rank), link.counter_at), value
    );
    if (traced_) stamps_[stamped_].ready.record(stream_of(leg.lane));
}

void CopyEngine::copy(const Leg& leg) {
    const Stream& stream = stream_of(leg.lane);
    if (leg.work == Work::fetch) {
        wall::copy_to_device(
            staging(leg.staging), windows_.on_host(options_.rank) + slot_at(leg), leg.bytes, stream
        );
    } else {
        wall::copy_to_host(
            windows_.on_host(link_of(leg).peer) + slot_at(leg), staging(leg.staging), leg.bytes, stream
        );
    }
    if (traced_) stamps_[stamped_++].end.record(stream);
}

void CopyEngine::post(const Leg& leg) const {
    const Link& link = link_of(leg);
    wall::write_counter(
        stream_of(leg.lane), counter_at(windows_.on_device(link.peer), link.posts_at), number_of(leg)
    );
}

void CopyEngine::combine(const Leg& leg, const Operation& operation) const {
    const Combine& c = legs_.combines[static_cast<std::size_t>(leg.index)];
    Move move{
        .bytes = c.bytes.size, .reduction = static_cast<std::int32_t>(options_.op), .divisor = c.divisor};
    for (std::size_t i = 0; i <= c.staged.size(); ++i) {
        if (static_cast<std::int32_t>(i) == c.local_at)
            move.add_source((c.local_is_output ? operation.output : operation.input) + c.bytes.begin);
        if (i < c.staged.size()) move.add_source(staging(c.staged[i]));
    }
    if (c.store) move.add_destination(operation.output + c.bytes.begin);
    if (c.result >= 0) move.add_destination(staging(c.result));
    launch_move(kernel_, move, stream());
}

/// The other lanes cannot be further ahead of a mark than staging slots allow.
void CopyEngine::bound_queue() {
    if (++unmarked_ < legs_per_mark) return;
    unmarked_ = 0;
    marks_[mark_].record(stream());
    mark_ = (mark_ + 1) % marks_.size();
    while (!marks_[mark_].done()) watch();
}

void CopyEngine::while_waiting(std::int64_t) {
    watch();
}

/// Streams' waits do not end by themselves: what the first of them waits for must come in time.
void CopyEngine::watch() {
    const std::int64_t now = now_ns();
    while (!awaited_.empty() && has_come(load(awaited_.front().counter), awaited_.front().value)) {
        awaited_.pop_front();
        since_ns_ = now;
    }
    if (awaited_.empty() || (!waiter_.aborted() && now - since_ns_ < options_.wait_ns)) return;
    give_up(*awaited_.front().where);
}

void CopyEngine::give_up(const host::Where& where) {
    try {
        waiter_.give_up(where);
    } catch (const host::GaveUp&) {
        release_streams();
        throw host::StuckError{host::stuck_message(control_, options_.ranks, options_.wait_ns), is_idle()};
    }
}

/// Lets all waits of this rank's streams end, by numbers that are later than any. Again and again, for a peer
/// may still write its own. What they then move means nothing, and the abort word says so.
void CopyEngine::release_streams() const {
    constexpr std::int64_t grace_ns = 5'000'000'000;
    constexpr std::uint64_t far = std::uint64_t{1} << 62;
    const std::int64_t begin = now_ns();
    while (!is_idle() && now_ns() - begin < grace_ns) {
        for (const Link& link : legs_.links) {
            std::uint64_t* counter = counter_at(windows_.on_host(options_.rank), link.counter_at);
            std::atomic_ref{*counter}.store(options_.first_number + far, std::memory_order_release);
        }
    }
}

bool CopyEngine::is_idle() const {
    return stream().is_idle() && receive_.is_idle() && send_.is_idle();
}

void CopyEngine::after() {
    awaited_.clear();
    if (!waiter_.aborted()) return;
    throw host::StuckError{host::stuck_message(control_, options_.ranks, options_.wait_ns)};
}

/// An event does not say when it was on any clock, only how long after another one. So one is recorded right
/// behind a kernel that reads the GPU's clock.
Timing CopyEngine::sample_traced(std::span<const Operation> operations, EventLog& events) {
    if (stamps_.empty())
        stamps_ = std::vector<Stamps>(std::ranges::count(legs_.legs, Work::await, &Leg::work));
    stamp_clock(reinterpret_cast<std::int64_t*>(anchor_stamp_.data()), stream());
    anchor_.record(stream());
    stream().synchronize();
    stamped_ = 0;
    traced_ = true;
    Timing timing = timed([&] { enqueue(operations.front()); });
    traced_ = false;
    std::int64_t anchor = 0;
    wall::copy_to_host(&anchor, anchor_stamp_.data(), sizeof(anchor), stream());
    stream().synchronize();
    const DeviceClock clock = clocks_.measure(stream());
    timing.events_error_ns = clock.error_ns;
    timing.on_common_clock = clock.is_common;
    timing.device_ahead_ns = clock.ahead_ns;
    keep(anchor - clock.offset_ns, events);
    return timing;
}

/// The parts of a message are one event.
void CopyEngine::keep(std::int64_t anchor_ns, EventLog& events) const {
    std::vector<RawEvent> rows(legs_.rows.size());
    std::size_t next = 0;
    for (const Leg& leg : legs_.legs) {
        if (leg.work != Work::await) continue;
        const Stamps& stamps = stamps_[next++];
        RawEvent& event = rows[static_cast<std::size_t>(leg.row)];
        const std::int64_t begin = stamps.begin.ns_since(anchor_), ready = stamps.ready.ns_since(anchor_);
        if (leg.first_part) {
            event.begin_ticks = begin;
            event.ready_ticks = ready;
        }
        event.end_ticks = stamps.end.ns_since(anchor_);
        event.wait_ns += ready - begin;
        event.payload_bytes += leg.bytes;
        event.wire_bytes += leg.bytes;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const RowInfo& info = legs_.rows[i];
        RawEvent& event = rows[i];
        event.channel = info.channel;
        event.op = info.op;
        event.message = info.message;
        event.direction = info.direction;
        event.begin_ns = anchor_ns + event.begin_ticks;
        event.ready_ns = anchor_ns + event.ready_ticks;
        event.end_ns = anchor_ns + event.end_ticks;
        events.add(event);
    }
}

}  // namespace ringscope::engine::cuda
