// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "base/ticks.hpp"
#include "engine/collective.hpp"
#include "engine/host/move.hpp"

namespace ringscope::engine::host {

/// The probe of untraced runs: nothing of it is left in the code.
struct NoProbe {
    void begin(const ReadyOp&) {}
    void waiting() {}
    void data_ready(std::size_t, bool) {}
    void credit_ready(std::size_t, bool) {}
    void posting(std::size_t) {}
    void sent(std::size_t, std::int64_t, std::int64_t) {}
    void received(std::size_t, std::int64_t, std::int64_t) {}
    void stored(const void*, std::int64_t) {}
    void end(const ReadyOp&) {}
};

/// The probe of traced runs: one event per op, direction and peer. An op begins where the one before it
/// ended, so that a rank's events cover its time without gaps. Stamps are ticks until the sample is over.
class TraceProbe {
 public:
    explicit TraceProbe(std::size_t peers)
        : clock_{TickClock::of_this_machine()}, recvs_(peers), sends_(peers) {}

    /// Before a sample: rows for `expected` events are fetched into the cache, as those of a run that is
    /// always traced would be.
    void start(EventLog& log, std::size_t expected) {
        log_ = &log;
        first_ = log.events().size();
        log.warm(expected);
        anchor_ = TickAnchor::now(clock_);
        begin_operation();
    }
    /// After it. Gives how far the stamps may be off the system's clock.
    std::int64_t finish() {
        const TickAnchor end = TickAnchor::now(clock_);
        for (RawEvent& event : log_->since(first_)) convert(event, end);
        return clock_.ns_of(std::max(anchor_.error_ticks, end.error_ticks)) + 1;
    }
    void begin_operation() { last_ = clock_.read(); }

    void begin(const ReadyOp& op) {
        op_ = &op;
        for (std::size_t i = 0; i < op.recvs.size(); ++i) recvs_[i] = {};
        for (std::size_t i = 0; i < op.sends.size(); ++i) sends_[i] = {};
        begin_ = last_;
    }
    void waiting() {
        last_ = clock_.read();
        waited_ = true;
    }
    void data_ready(std::size_t i, bool first) { stamp(recvs_[i], first); }
    /// A slot that was free already was free at the last stamp, for all that anybody will conclude from it.
    void credit_ready(std::size_t i, bool first) {
        if (waited_) return stamp(sends_[i], first);
        if (first) sends_[i].ready = sends_[i].posted = last_;
    }
    void received(std::size_t i, std::int64_t payload, std::int64_t wire) { add(recvs_[i], payload, wire); }
    /// Right before a send's first part is announced. Where lines carry flags that is when its slot is free.
    void posting(std::size_t i) { sends_[i].posted = clock_.read(); }
    void sent(std::size_t i, std::int64_t payload, std::int64_t wire) { add(sends_[i], payload, wire); }
    void stored(const void*, std::int64_t) {}
    void end(const ReadyOp& op) {
        last_ = clock_.read();
        for (std::size_t i = 0; i < op.recvs.size(); ++i) write(recvs_[i], i, trace::Direction::recv);
        for (std::size_t i = 0; i < op.sends.size(); ++i) write(sends_[i], i, trace::Direction::send);
    }

 private:
    struct Row {
        std::int64_t ready = 0, posted = 0, wait = 0;  ///< ticks
        std::int64_t payload = 0, wire = 0;
    };

    /// Waits are taken one after the other, so each is charged the time since the stamp before it.
    void stamp(Row& row, bool first) {
        const std::int64_t now = clock_.read();
        if (first) row.ready = row.posted = now;
        row.wait += now - last_;
        last_ = now;
        waited_ = false;
    }
    static void add(Row& row, std::int64_t payload, std::int64_t wire) {
        row.payload += payload;
        row.wire += wire;
    }
    void write(const Row& row, std::size_t message, trace::Direction direction) {
        log_->add(
            {.channel = op_->channel,
             .op = op_->index,
             .message = static_cast<std::int32_t>(message),
             .direction = direction,
             .payload_bytes = row.payload,
             .wire_bytes = row.wire,
             .posted_ns = row.posted,
             .wait_ns = row.wait,
             .begin_ticks = begin_,
             .ready_ticks = row.ready,
             .end_ticks = last_}
        );
    }
    /// By the rate of this very sample where it was long enough to give one.
    void convert(RawEvent& event, const TickAnchor& end) const {
        constexpr std::int64_t long_enough_ns = 1'000'000;
        const bool is_long = end.ns - anchor_.ns > long_enough_ns;
        const double rate =
            static_cast<double>(end.ns - anchor_.ns) / static_cast<double>(end.ticks - anchor_.ticks);
        const auto span = [&](std::int64_t ticks) {
            return is_long ? static_cast<std::int64_t>(static_cast<double>(ticks) * rate)
                           : clock_.ns_of(ticks);
        };
        const auto moment = [&](std::int64_t ticks) { return anchor_.ns + span(ticks - anchor_.ticks); };
        event.begin_ns = moment(event.begin_ticks);
        event.ready_ns = moment(event.ready_ticks);
        event.end_ns = moment(event.end_ticks);
        event.wait_ns = std::min(span(event.wait_ns), event.end_ns - event.begin_ns);  // rounded apart
        event.posted_ns =
            event.direction == trace::Direction::send ? moment(event.posted_ns) : trace::not_available;
    }

    const TickClock& clock_;
    EventLog* log_ = nullptr;
    std::size_t first_ = 0;  ///< event of this sample
    TickAnchor anchor_;
    std::vector<Row> recvs_, sends_;
    const ReadyOp* op_ = nullptr;
    std::int64_t begin_ = 0, last_ = 0;
    bool waited_ = false;  ///< since the last stamp
};

}  // namespace ringscope::engine::host
