// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cuda/cuda.hpp"
#include "engine/collective.hpp"
#include "engine/cuda/engine.hpp"
#include "engine/cuda/kernel/kernels.hpp"
#include "engine/cuda/layout.hpp"
#include "engine/host/control.hpp"

namespace ringscope::engine::cuda {

/// Operations that a stream is asked for, timed by its events: one by one, or as a graph.
class StreamCollective : public Collective {
 public:
    void arm(std::span<const Operation> operations) override;
    Timing sample(std::span<const Operation> operations) override;

 protected:
    explicit StreamCollective(Mode mode) : mode_{mode} {}
    [[nodiscard]] const ringscope::cuda::Stream& stream() const { return stream_; }
    virtual void enqueue(const Operation& operation) = 0;
    /// Called again and again until the work is done. Throws to give up.
    virtual void while_waiting() {}
    /// Called when the work of a sample is done. Throws when its results mean nothing.
    virtual void after() {}
    /// Times `work`, which asks the stream for something.
    template <class Work>
    Timing timed(Work work);

 private:
    Mode mode_;
    ringscope::cuda::Stream stream_;
    ringscope::cuda::Event start_, stop_;
    ringscope::cuda::Graph graph_;
    std::vector<Operation> captured_;
};

/// The all-reduce of a single rank: a copy where out of place.
class DeviceCopy final : public StreamCollective {
 public:
    explicit DeviceCopy(std::int64_t bytes, Mode mode) : StreamCollective{mode}, bytes_{bytes} {}
    Timing sample_traced(const Operation& operation, EventLog&) override { return sample({&operation, 1}); }

 private:
    void enqueue(const Operation& operation) override;
    std::int64_t bytes_;
};

struct InterpreterOptions {
    Protocol protocol = Protocol::simple;
    DataType dtype = DataType::float32;
    ReduceOp op = ReduceOp::sum;
    Mode mode = Mode::isolated;
    std::int32_t ranks = 1, rank = 0, channels = 1;
    std::int64_t slots = 0, slot_bytes = 0;
    int threads = 0;
    std::int64_t wait_ns = 0;
    CountingKernels counting{};
};

/// An all-reduce by the interpreter kernel.
class Interpreter final : public StreamCollective {
 public:
    /// `connections` is this rank's part of the arena, zeroed.
    Interpreter(
        host::Control& control, const ringscope::cuda::HostRegistration& registration,
        const std::byte* connections, const Layout& layout, Image image, const InterpreterOptions& options
    );

    Timing sample_traced(const Operation& operation, EventLog& events) override;

 private:
    void enqueue(const Operation& operation) override;
    void while_waiting() override;
    void after() override;
    void launch_on(const Operation& operation, bool traced);
    void keep(const std::vector<Row>& rows, EventLog& events) const;

    host::Control& control_;
    InterpreterOptions options_;
    Image image_;
    Kernels kernels_;
    ringscope::cuda::DeviceMemory device_image_, rows_, gave_up_;
    Launch launch_;
    std::int64_t aborted_since_ns_ = 0;
};

/// Time of a kernel that does nothing in this mode: what is not the collective's.
[[nodiscard]] std::int64_t measure_empty(const ringscope::cuda::Stream& stream, Mode mode);

}  // namespace ringscope::engine::cuda
