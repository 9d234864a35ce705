// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/cuda/device_clocks.hpp"
#include "engine/cuda/engine.hpp"
#include "engine/cuda/kernel/kernels.hpp"
#include "engine/cuda/legs.hpp"
#include "engine/cuda/staged_window.hpp"
#include "engine/cuda/stream_collective.hpp"
#include "engine/host/wait.hpp"

namespace ringscope::engine::cuda {

struct CopyEngineOptions {
    DataType dtype = DataType::float32;
    ReduceOp op = ReduceOp::sum;
    std::int32_t ranks = 1, rank = 0;
    std::int64_t slots = 0, slot_bytes = 0;
    std::int64_t wait_ns = 0;
    std::uint64_t first_number = 0;
};

/// An all-reduce by copy engines through windows of the host. All of its legs are asked for beforehand:
/// streams wait for counters and write them, and the host only looks on.
class CopyEngine final : public StreamCollective {
 public:
    /// Counters and slots lie in `windows`, which is zeroed.
    CopyEngine(
        host::Control& control, const StagedWindows& windows, Legs legs, DeviceClocks& clocks,
        const CopyEngineOptions& options, std::shared_ptr<const ringscope::cuda::Stream> own_stream
    );

    /// Times are those of events between the legs, which have steps of about 0.5 us.
    Timing sample_traced(std::span<const Operation> operations, EventLog& events) override;

 private:
    using Stream = ringscope::cuda::Stream;
    using Event = ringscope::cuda::Event;

    /// The other rank's counter that a stream waits for, as the host sees it.
    struct Awaited {
        std::uint64_t* counter;
        std::uint64_t value;
        const host::Where* where;
    };
    /// When a message's part was first waited for, was there, and was moved.
    struct Stamps {
        Event begin, ready, end;
    };

    void enqueue(const Operation& operation) override;
    void while_waiting(std::int64_t enter_ns) override;
    void after() override;

    void fork() const;
    void join() const;
    void play(std::size_t leg, const Operation& operation);
    void await(const Leg& leg);
    void combine(const Leg& leg, const Operation& operation) const;
    void copy(const Leg& leg);
    void post(const Leg& leg) const;
    void bound_queue();
    void watch();
    [[noreturn]] void give_up(const host::Where& where);
    void release_streams() const;
    [[nodiscard]] bool is_idle() const;

    void keep(std::int64_t anchor_ns, EventLog& events) const;

    [[nodiscard]] const Stream& stream_of(Lane lane) const {
        return lane == Lane::compute ? stream() : lane == Lane::receive ? receive_ : send_;
    }
    [[nodiscard]] const Link& link_of(const Leg& leg) const {
        return legs_.links[static_cast<std::size_t>(leg.index)];
    }
    [[nodiscard]] std::uint64_t number_of(const Leg& leg) const;
    [[nodiscard]] std::int64_t slot_at(const Leg& leg) const;
    [[nodiscard]] std::byte* staging(std::int32_t slot) const {
        return staging_.data() + slot * options_.slot_bytes;
    }

    host::Control& control_;
    DeviceClocks& clocks_;
    const StagedWindows& windows_;
    Legs legs_;
    CopyEngineOptions options_;
    const void* kernel_;
    ringscope::cuda::DeviceMemory staging_, anchor_stamp_;
    Stream receive_, send_;
    Event begin_{false}, received_{false}, sent_{false}, anchor_;
    std::vector<std::unique_ptr<Event>> done_;  ///< of a leg that others come after
    std::array<Event, 8> marks_;                ///< of the compute lane, every so many legs
    std::size_t mark_ = 0, unmarked_ = 0;
    std::uint64_t operations_ = 0;  ///< that were asked for
    std::deque<Awaited> awaited_;   ///< in the order of the program, without those that came
    std::int64_t since_ns_ = 0;     ///< the first of them
    host::Waiter waiter_;
    bool traced_ = false;
    std::vector<Stamps> stamps_;  ///< of the awaiting legs, in order
    std::size_t stamped_ = 0;
};

}  // namespace ringscope::engine::cuda
