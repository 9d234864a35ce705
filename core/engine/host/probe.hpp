// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>

#include "base/ticks.hpp"
#include "base/time.hpp"
#include "engine/collective.hpp"
#include "engine/host/move.hpp"

namespace ringscope::engine::host {

/// The probe of untraced runs: nothing of it is left in the code.
struct NoProbe {
    void begin(const ReadyOp&) {}
    void waiting() {}
    void data_ready(std::size_t, bool) {}
    void credit_ready(std::size_t, bool) {}
    void moved(bool, bool, bool) {}
    void sent(std::size_t, std::int64_t, std::int64_t) {}
    void received(std::size_t, std::int64_t, std::int64_t) {}
    void stored(const void*, std::int64_t) {}
    void end() {}
};

/// The probe of traced runs: one event per op, direction and peer. Which events there will be is known, so
/// their rows lie ready before the run, and are stamped in place. An op begins where the one before it ended,
/// so that a rank's events cover its time without gaps. Stamps are ticks until the sample is over, and a
/// moment that nothing was done since is not read twice: what a trace costs is reading the counter.
class TraceProbe {
 public:
    explicit TraceProbe(std::span<const ReadyOp> ops) : clock_{TickClock::of_this_machine()}, ops_{ops} {}

    /// Before a sample of so many operations.
    void start(EventLog& log, std::size_t operations) {
        const std::size_t first = log.events().size();
        for (std::size_t i = 0; i < operations; ++i) {
            log.begin_operation(static_cast<std::int32_t>(i));
            for (const ReadyOp& op : ops_) lay_out(op, log);
        }
        rows_ = log.since(first);
        next_ = 0;
        anchor_ = TickAnchor::now(clock_);
    }
    /// After it. Gives how far the stamps may be off the system's clock.
    std::int64_t finish() {
        const TickAnchor end = TickAnchor::now(clock_);
        for (RawEvent& event : rows_) convert(event, end);
        return clock_.ns_of(std::max(anchor_.error_ticks, end.error_ticks)) + 1;
    }
    /// Its first op begins now, in ns.
    std::int64_t enter() {
        last_ = clock_.read();
        return enter_ns_ = now_ns();
    }

    void begin(const ReadyOp& op) {
        op_ = &op;
        begin_ = last_;
    }
    void waiting() {
        if (has_moved_) read();
        waited_ = true;
    }
    void data_ready(std::size_t i, bool first) { stamp(recv(i), first); }
    /// A slot that was free already was free at the last stamp, for all that anybody will conclude from it.
    void credit_ready(std::size_t i, bool first) {
        if (waited_) return stamp(send(i), first);
        if (first) send(i).ready_ticks = send(i).posted_ns = last_;
    }
    /// A part's bytes are where they belong, if it had any to move, and this is about to be announced.
    void moved(bool any, bool is_first, bool is_last) {
        has_moved_ = has_moved_ || any;
        if (has_moved_ && !op_->sends.empty() && (is_first || is_last)) read();
        for (std::size_t i = 0; is_first && i < op_->sends.size(); ++i) send(i).posted_ns = last_;
    }
    void received(std::size_t i, std::int64_t payload, std::int64_t wire) { add(recv(i), payload, wire); }
    void sent(std::size_t i, std::int64_t payload, std::int64_t wire) { add(send(i), payload, wire); }
    void stored(const void*, std::int64_t) {}
    /// An op that sends is done when its last part is about to be announced, another one now.
    void end() {
        if (op_->sends.empty()) read();
        const std::size_t messages = op_->recvs.size() + op_->sends.size();
        for (std::size_t i = 0; i < messages; ++i) {
            row(i).begin_ticks = begin_;
            row(i).end_ticks = last_;
        }
        next_ += messages;
    }

 private:
    static void lay_out(const ReadyOp& op, EventLog& log) {
        const auto add = [&](std::size_t messages, trace::Direction direction) {
            for (std::size_t i = 0; i < messages; ++i) {
                log.add(
                    {.channel = op.channel,
                     .op = op.index,
                     .message = static_cast<std::int32_t>(i),
                     .direction = direction}
                );
            }
        };
        add(op.recvs.size(), trace::Direction::recv);
        add(op.sends.size(), trace::Direction::send);
    }

    /// Rows that there was no room for are stamped as well, so that a lossy trace costs what a whole one
    /// does.
    RawEvent& row(std::size_t i) { return next_ + i < rows_.size() ? rows_[next_ + i] : dropped_; }
    RawEvent& recv(std::size_t i) { return row(i); }
    RawEvent& send(std::size_t i) { return row(op_->recvs.size() + i); }

    void read() {
        last_ = clock_.read();
        has_moved_ = false;
    }
    /// Waits are taken one after the other, so each is charged the time since the stamp before it.
    void stamp(RawEvent& row, bool first) {
        const std::int64_t before = last_;
        read();
        if (first) row.ready_ticks = row.posted_ns = last_;
        row.wait_ns += last_ - before;
        waited_ = false;
    }
    static void add(RawEvent& row, std::int64_t payload, std::int64_t wire) {
        row.payload_bytes += payload;
        row.wire_bytes += wire;
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
        const auto moment = [&](std::int64_t ticks) {
            return std::max(enter_ns_, anchor_.ns + span(ticks - anchor_.ticks));  // two clocks of one moment
        };
        event.begin_ns = moment(event.begin_ticks);
        event.ready_ns = moment(event.ready_ticks);
        event.end_ns = moment(event.end_ticks);
        event.wait_ns = std::min(span(event.wait_ns), event.end_ns - event.begin_ns);  // rounded apart
        event.posted_ns =
            event.direction == trace::Direction::send ? moment(event.posted_ns) : trace::not_available;
    }

    const TickClock& clock_;
    std::span<const ReadyOp> ops_;
    std::span<RawEvent> rows_;  ///< of this sample; posted_ns and wait_ns in ticks until finish()
    RawEvent dropped_;
    std::size_t next_ = 0;  ///< row of the op's first message
    TickAnchor anchor_;
    std::int64_t enter_ns_ = 0;
    const ReadyOp* op_ = nullptr;
    std::int64_t begin_ = 0, last_ = 0;
    bool has_moved_ = false;  ///< since the last stamp
    bool waited_ = false;     ///< likewise
};

}  // namespace ringscope::engine::host
