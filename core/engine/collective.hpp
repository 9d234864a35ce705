// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "trace/rows.hpp"

namespace ringscope::engine {

/// A traced message of an op, as the engine keeps it on the timed path: indices now, names after the run.
struct RawEvent {
    std::int32_t channel = 0;
    std::int32_t op = 0;         ///< index in the rank's program of the channel
    std::int32_t message = 0;    ///< index among the op's receives or sends
    std::int32_t operation = 0;  ///< of the sample, from 0
    trace::Direction direction = trace::Direction::send;
    std::int64_t payload_bytes = 0, wire_bytes = 0;  ///< as the copy loop moved them
    std::int64_t begin_ns = 0, ready_ns = 0, end_ns = 0;
    std::int64_t posted_ns = trace::not_available;  ///< a send's first part was handed over, where known
    std::int64_t wait_ns = 0;                       ///< for data (recv) or credit (send), over all parts
    std::int64_t begin_ticks = 0, ready_ticks = 0, end_ticks = 0;  ///< as read from the engine's clock
};

/// Fixed memory for the events of one rank and operation: nothing is allocated on the timed path. When it is
/// full the newest events are dropped and counted.
class EventLog {
 public:
    explicit EventLog(std::int64_t capacity) : events_(static_cast<std::size_t>(capacity)) {}

    /// Operation of the sample that the next events belong to.
    void begin_operation(std::int32_t operation) { operation_ = operation; }
    void add(const RawEvent& event) {
        if (size_ < events_.size()) {
            events_[size_] = event;
            events_[size_++].operation = operation_;
        } else {
            ++dropped_;
        }
    }
    [[nodiscard]] std::span<const RawEvent> events() const { return {events_.data(), size_}; }
    /// Events that it still takes.
    [[nodiscard]] std::size_t room() const { return events_.size() - size_; }
    [[nodiscard]] std::int64_t dropped() const { return dropped_; }
    /// For the next operation.
    void clear() {
        size_ = 0;
        dropped_ = 0;
    }

 private:
    std::vector<RawEvent> events_;  // zeroed, so that its pages are there before the run
    std::size_t size_ = 0;
    std::int64_t dropped_ = 0;
    std::int32_t operation_ = 0;
};

/// The user buffers of one operation; both may be the same.
struct Operation {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    friend bool operator==(const Operation&, const Operation&) = default;
};

/// When a rank's part of a sample began and ended, on the host's clock, and how long a device took for it
/// by its own events.
struct Timing {
    std::int64_t enter_ns = 0, exit_ns = 0;
    std::int64_t device_ns = trace::not_available;
    std::int64_t events_error_ns = 0;  ///< how far stamps of events may be off the clock that they are on
    bool on_common_clock = false;      ///< which is rank 0's host's then, else the rank's own host's
    std::int64_t device_ahead_ns = 0;  ///< of that common clock, by so much: the device's
};

/// One prepared all-reduce: everything that may allocate, communicate or fail is behind it.
class Collective {
 public:
    virtual ~Collective() = default;
    /// Makes ready what these operations need as one sample (a graph is built here); with a log, as a traced
    /// one. [not timed, before the ranks start together]
    virtual void arm(std::span<const Operation>, EventLog* /*traced*/) {}
    /// Runs the operations one after the other. [collective]
    virtual Timing sample(std::span<const Operation> operations) = 0;
    /// The same, armed for it, and keeps their events. Opaque baselines have none. [collective]
    virtual Timing sample_traced(std::span<const Operation> operations, EventLog& events) = 0;
};

/// A collective on the host: a call returns when its result is there, so it is timed around the calls.
class BlockingCollective : public Collective {
 public:
    /// Reduces `input` of all ranks into `output`, which may be the same. [collective, timed]
    virtual void run(const std::byte* input, std::byte* output) = 0;
    /// The same, with its events. [collective, timed]
    virtual void run_traced(const std::byte* input, std::byte* output, EventLog& events) = 0;
    /// Around the runs of a traced sample of so many operations. [not timed]
    virtual void begin_trace(std::size_t, EventLog&) {}
    /// Enters them, now, which it gives in ns: the first op begins here, each later one where the one before
    /// it ended.
    virtual std::int64_t enter_trace() { return now_ns(); }
    /// Leaves them, likewise: the last op ends here.
    virtual std::int64_t leave_trace() { return now_ns(); }
    /// Gives how far the events' stamps may be off the host's clock, in ns.
    virtual std::int64_t end_trace(EventLog&) { return 0; }

    void arm(std::span<const Operation> operations, EventLog* traced) final {
        if (traced != nullptr) begin_trace(operations.size(), *traced);
    }
    Timing sample(std::span<const Operation> operations) final;
    Timing sample_traced(std::span<const Operation> operations, EventLog& events) final;
};

}  // namespace ringscope::engine
