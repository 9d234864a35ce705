// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

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
    void credit_ready(std::size_t, bool, bool) {}
    void moved(bool, bool, bool) {}
    void sent(std::size_t, std::int64_t, std::int64_t) {}
    void received(std::size_t, std::int64_t, std::int64_t) {}
    void stored(const void*, std::int64_t) {}
    void end() {}
};

/// What a traced run notes of one message, in one cache line: the line is on the way from the second-level
/// cache, or further, while the op waits, and the store that announces the op's data stands behind it.
struct alignas(64) Stamps {
    std::int64_t begin = 0, ready = 0, end = 0;  ///< in ticks, as are the next two
    std::int64_t posted = 0;
    std::int64_t waited = 0;
    std::int64_t payload_bytes = 0, wire_bytes = 0;
};

/// The probe of traced runs: one event per op, direction and peer. An op begins where the one before it
/// ended, so that a rank's events cover its time without gaps. Only what is not known beforehand is noted
/// while the ops run, and a moment that nothing was done since is not read twice: what a trace costs is
/// reading the counter.
class TraceProbe {
 public:
    explicit TraceProbe(std::span<const ReadyOp> ops) : ops_{ops} {
        for (const ReadyOp& op : ops) {
            messages_ += op.recvs.size() + op.sends.size();
            dropped_.resize(std::max(dropped_.size(), op.recvs.size() + op.sends.size()));
        }
    }

    /// Before a sample of so many operations.
    void start(EventLog& log, std::size_t operations) {
        log_ = &log;
        operations_ = operations;
        // Up to the end of the op that the log takes the first event of, for an op's are kept as a whole
        // here.
        stamps_.assign(std::min(log.room() + dropped_.size(), operations * messages_), Stamps{});
        next_ = ended_ = 0;
        anchor_ = TickAnchor::now(clock_);
    }
    /// After it: its events go to the log. Gives how far the stamps may be off the system's clock.
    std::int64_t finish() {
        const TickAnchor end = TickAnchor::now(clock_);
        next_ = 0;
        for (std::size_t i = 0; i < operations_; ++i) {
            log_->begin_operation(static_cast<std::int32_t>(i));
            for (const ReadyOp& op : ops_) keep(op, end);
        }
        return clock_.ns_of(std::max(anchor_.error_ticks, end.error_ticks)) + 1;
    }
    /// Its first op begins now, in ns.
    std::int64_t enter() {
        last_ = clock_.read();
        return enter_ns_ = now_ns();
    }
    /// Its last op ends now, in ns.
    std::int64_t leave() {
        exit_ns_ = now_ns();
        complete(clock_.read());
        return exit_ns_;
    }

    void begin(const ReadyOp& op) {
        const std::size_t messages = op.recvs.size() + op.sends.size();
        receives_ = next_ + messages <= stamps_.size() ? stamps_.data() + next_ : dropped_.data();
        next_ += messages;
        sends_ = receives_ + op.recvs.size();
        end_ = receives_ + messages;
        for (Stamps* stamps = receives_; stamps != end_; ++stamps) __builtin_prefetch(stamps, 1);
        begin_ = last_;
    }
    void waiting() {
        if (has_moved_) read();
    }
    void data_ready(std::size_t i, bool first) { stamp(receives_[i], first); }
    /// A slot that was free already was free at the last stamp, for all that anybody will conclude from it.
    void credit_ready(std::size_t i, bool first, bool waited) {
        Stamps& send = sends_[i];
        if (waited) stamp(send, first);
        if (first) send.ready = posted_ = last_;
    }
    /// A part's bytes are where they belong, if it had any to move, and this is about to be announced: what
    /// need not be noted before that is noted after it.
    void moved(bool any, bool is_first, bool is_last) {
        has_moved_ = has_moved_ || any;
        if (has_moved_ && sends_ != end_ && (is_first || is_last)) read();
        if (is_first) posted_ = last_;
    }
    void received(std::size_t i, std::int64_t payload, std::int64_t wire) {
        add(receives_[i], payload, wire);
    }
    void sent(std::size_t i, std::int64_t payload, std::int64_t wire) { add(sends_[i], payload, wire); }
    void stored(const void*, std::int64_t) {}
    /// An op that sends is done when its last part is about to be announced, another one now, and the last
    /// one when the sample is left.
    void end() {
        if (++ended_ == operations_ * ops_.size()) return;
        if (only_waited()) {
            last_ = clock_.read();
        } else if (sends_ == end_ && has_moved_) {
            read();
        }
        complete(last_);
    }

 private:
    [[nodiscard]] bool only_waited() const { return receives_ != end_ && receives_->ready == 0; }
    /// Where nothing was left to do when the data came, that and the op's end are one moment.
    void complete(std::int64_t end) {
        const bool no_data_stamped = only_waited();
        for (Stamps* stamps = receives_; stamps != end_; ++stamps) {
            stamps->begin = begin_;
            stamps->end = end;
            stamps->posted = posted_;
            if (!no_data_stamped) continue;
            stamps->ready = end;
            stamps->waited = end - begin_;
        }
    }
    /// It may be taken ahead of a stamp that waits for a load, which it must not lie before.
    void read() {
        last_ = std::max(last_, clock_.read_unordered());
        has_moved_ = false;
    }
    /// Waits are taken one after the other, so each is charged the time since the stamp before it.
    void stamp(Stamps& stamps, bool first) {
        const std::int64_t before = last_;
        last_ = clock_.read();
        has_moved_ = false;
        if (first) stamps.ready = last_;
        stamps.waited += last_ - before;
    }
    static void add(Stamps& stamps, std::int64_t payload, std::int64_t wire) {
        stamps.payload_bytes += payload;
        stamps.wire_bytes += wire;
    }

    void keep(const ReadyOp& op, const TickAnchor& end) {
        const auto add = [&](std::size_t messages, trace::Direction direction) {
            for (std::size_t i = 0; i < messages; ++i, ++next_)
                log_->add(event(op, static_cast<std::int32_t>(i), direction, stamps_at(next_), end));
        };
        add(op.recvs.size(), trace::Direction::recv);
        add(op.sends.size(), trace::Direction::send);
    }
    /// Behind the last there is room for none, and the log counts them.
    [[nodiscard]] Stamps stamps_at(std::size_t i) const { return i < stamps_.size() ? stamps_[i] : Stamps{}; }
    RawEvent event(
        const ReadyOp& op, std::int32_t message, trace::Direction direction, const Stamps& stamps,
        const TickAnchor& end
    ) const {
        const bool sent = direction == trace::Direction::send;
        const std::int64_t begin_ns = moment(stamps.begin, end), end_ns = moment(stamps.end, end);
        return {
            .channel = op.channel,
            .op = op.index,
            .message = message,
            .direction = direction,
            .payload_bytes = stamps.payload_bytes,
            .wire_bytes = stamps.wire_bytes,
            .begin_ns = begin_ns,
            .ready_ns = moment(stamps.ready, end),
            .end_ns = end_ns,
            .posted_ns = sent ? moment(stamps.posted, end) : trace::not_available,
            .wait_ns = std::min(span(stamps.waited, end), end_ns - begin_ns),  // rounded apart
            .begin_ticks = stamps.begin,
            .ready_ticks = stamps.ready,
            .end_ticks = stamps.end};
    }
    /// The first may lie ahead of the entry and the last behind the exit, for these are two clocks of one
    /// moment.
    std::int64_t moment(std::int64_t ticks, const TickAnchor& end) const {
        return std::clamp(anchor_.ns + span(ticks - anchor_.ticks, end), enter_ns_, exit_ns_);
    }
    /// By the rate of this very sample where it was long enough to give one.
    std::int64_t span(std::int64_t ticks, const TickAnchor& end) const {
        constexpr std::int64_t long_enough_ns = 1'000'000;
        if (end.ns - anchor_.ns <= long_enough_ns) return clock_.ns_of(ticks);
        const double rate =
            static_cast<double>(end.ns - anchor_.ns) / static_cast<double>(end.ticks - anchor_.ticks);
        return static_cast<std::int64_t>(static_cast<double>(ticks) * rate);
    }

    std::span<const ReadyOp> ops_;
    std::size_t messages_ = 0;  ///< of an operation
    EventLog* log_ = nullptr;
    std::size_t operations_ = 0;
    std::vector<Stamps> stamps_;   ///< of this sample
    std::vector<Stamps> dropped_;  ///< of an op: what there is no room for costs as much as the rest
    TickAnchor anchor_;
    std::int64_t enter_ns_ = 0, exit_ns_ = 0;
    std::size_t next_ = 0;   ///< the op's first message
    std::size_t ended_ = 0;  ///< ops
    // What is changed all the time, in one cache line.
    alignas(64) TickClock clock_ = TickClock::of_this_machine();
    Stamps *receives_ = nullptr, *sends_ = nullptr, *end_ = nullptr;  ///< of the op
    std::int64_t begin_ = 0, last_ = 0, posted_ = 0;
    bool has_moved_ = false;  ///< since the last stamp
};

}  // namespace ringscope::engine::host
