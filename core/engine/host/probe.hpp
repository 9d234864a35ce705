// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

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
    void posting(std::size_t) {}
    void sent(std::size_t, std::int64_t, std::int64_t) {}
    void received(std::size_t, std::int64_t, std::int64_t) {}
    void stored(const void*, std::int64_t) {}
    void end(const ReadyOp&) {}
};

/// The probe of traced runs: one event per op, direction and peer. An op begins where the one before it
/// ended, so that a rank's events cover its time without gaps.
class TraceProbe {
 public:
    explicit TraceProbe(std::size_t peers) : recvs_(peers), sends_(peers) {}

    void start(EventLog& log) {
        log_ = &log;
        last_ = now_ns();
    }

    void begin(const ReadyOp& op) {
        op_ = &op;
        for (std::size_t i = 0; i < op.recvs.size(); ++i) recvs_[i] = {};
        for (std::size_t i = 0; i < op.sends.size(); ++i) sends_[i] = {};
        begin_ = last_;
    }
    void waiting() { last_ = now_ns(); }
    void data_ready(std::size_t i, bool first) { stamp(recvs_[i], first); }
    void credit_ready(std::size_t i, bool first) { stamp(sends_[i], first); }
    /// Right before a send's first part is announced. Where lines carry flags that is when its slot is free.
    void posting(std::size_t i) { sends_[i].posted_ns = now_ns(); }
    void received(std::size_t i, std::int64_t payload, std::int64_t wire) { add(recvs_[i], payload, wire); }
    void sent(std::size_t i, std::int64_t payload, std::int64_t wire) { add(sends_[i], payload, wire); }
    void stored(const void*, std::int64_t) {}
    void end(const ReadyOp& op) {
        last_ = now_ns();
        for (std::size_t i = 0; i < op.recvs.size(); ++i) write(recvs_[i], i, trace::Direction::recv);
        for (std::size_t i = 0; i < op.sends.size(); ++i) write(sends_[i], i, trace::Direction::send);
    }

 private:
    struct Row {
        std::int64_t ready_ns = 0, posted_ns = trace::not_available, wait_ns = 0, payload = 0, wire = 0;
    };

    /// Waits are taken one after the other, so each is charged the time since the stamp before it.
    void stamp(Row& row, bool first) {
        const std::int64_t now = now_ns();
        if (first) row.ready_ns = row.posted_ns = now;
        row.wait_ns += now - last_;
        last_ = now;
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
             .begin_ns = begin_,
             .ready_ns = row.ready_ns,
             .end_ns = last_,
             .posted_ns = direction == trace::Direction::send ? row.posted_ns : trace::not_available,
             .wait_ns = row.wait_ns,
             .begin_ticks = begin_,
             .ready_ticks = row.ready_ns,
             .end_ticks = last_}
        );
    }

    EventLog* log_ = nullptr;
    std::vector<Row> recvs_, sends_;
    const ReadyOp* op_ = nullptr;
    std::int64_t begin_ = 0, last_ = 0;
};

}  // namespace ringscope::engine::host
