// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/cuda/engine.hpp"
#include "engine/cuda/kernel/kernels.hpp"
#include "engine/cuda/kernel/move.hpp"
#include "engine/cuda/stream_collective.hpp"
#include "engine/host/connections.hpp"
#include "engine/host/probe.hpp"
#include "engine/host/wait.hpp"

namespace ringscope::engine::cuda {

/// Where the slots of a plan's connections lie: in the sender's memory, for the receivers pull. Every rank
/// computes the same.
class SenderSlots {
 public:
    explicit SenderSlots(const schedule::Plan& plan);
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }  ///< the same on all ranks
    [[nodiscard]] std::int64_t at(std::int32_t channel, std::int32_t src, std::int32_t dst) const {
        return at_.at({channel, src, dst});
    }

 private:
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int64_t> at_;
    std::int64_t bytes_ = 0;
};

struct HostDrivenOptions {
    DataType dtype = DataType::float32;
    ReduceOp op = ReduceOp::sum;
    std::int32_t rank = 0;
    std::int64_t wait_ns = 0;
    bool oversubscribed = false;
    LoopFault fault = LoopFault::none;
};

/// An all-reduce with the host in the loop. Per part of an op: the host waits for the peers' counters in
/// shared memory, launches a kernel that combines the part, waits for the stream, and only then posts.
class HostDriven final : public StreamCollective {
 public:
    /// The slots of `connections` are where the GPU sees them.
    HostDriven(
        host::Control& control, std::unique_ptr<host::Connections> connections, const schedule::Plan& plan,
        const HostDrivenOptions& options, std::shared_ptr<const ringscope::cuda::Stream> own_stream
    );

    void arm(std::span<const Operation> operations, EventLog* traced) override;
    Timing sample_traced(std::span<const Operation> operations, EventLog& events) override;

 private:
    void enqueue(const Operation& operation) override;
    template <class Probe>
    void play(const Operation& operation, Probe& probe);
    void move(const host::ReadyOp& op, schedule::Range range, const Operation& operation) const;

    host::Control& control_;
    std::int32_t ranks_;
    HostDrivenOptions options_;
    const void* kernel_;
    std::unique_ptr<host::Connections> connections_;
    std::vector<host::ReadyOp> ops_;
    host::Waiter waiter_;
    host::TraceProbe trace_;
};

}  // namespace ringscope::engine::cuda
