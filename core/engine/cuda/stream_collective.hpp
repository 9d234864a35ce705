// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "base/types.hpp"
#include "cuda/cuda.hpp"
#include "engine/collective.hpp"

namespace ringscope::engine::cuda {

/// Operations that a stream is asked for, timed by its events: one by one, or as a graph. A rank of an engine
/// has one stream for all its cases: ranks that share a GPU wait for each other's kernels, and streams made
/// anew for each case might come to share a queue of the GPU.
class StreamCollective : public Collective {
 public:
    void arm(std::span<const Operation> operations, EventLog* traced) override;
    Timing sample(std::span<const Operation> operations) override;
    Timing sample_traced(std::span<const Operation> operations, EventLog&) override {
        return sample(operations);
    }

 protected:
    StreamCollective(Mode mode, std::shared_ptr<const ringscope::cuda::Stream> stream)
        : mode_{mode}, stream_{std::move(stream)} {}
    [[nodiscard]] const ringscope::cuda::Stream& stream() const { return *stream_; }
    /// Whether these operations are a graph already, or are none in this mode.
    [[nodiscard]] bool is_armed(std::span<const Operation> operations, bool traced) const;
    virtual void enqueue(const Operation& operation) = 0;
    /// The same, leaving its events where sample_traced finds them.
    virtual void enqueue_traced(const Operation& operation) { enqueue(operation); }
    /// Times these operations, as the mode asks for them.
    Timing timed_operations(std::span<const Operation> operations, bool traced);
    /// Called again and again until the work of a sample that began at `enter_ns` is done. Throws to give up.
    virtual void while_waiting(std::int64_t) {}
    /// Called when the work of a sample is done. Throws when its results mean nothing.
    virtual void after() {}

    /// Times `work`, which asks the stream for something.
    template <class Work>
    Timing timed(Work work) {
        Timing timing{.enter_ns = now_ns()};
        start_.record(*stream_);
        work();
        stop_.record(*stream_);
        while (!stop_.done()) while_waiting(timing.enter_ns);
        timing.exit_ns = now_ns();
        timing.device_ns = stop_.ns_since(start_);
        after();
        return timing;
    }

 private:
    void enqueue_all(std::span<const Operation> operations, bool traced);

    Mode mode_;
    std::shared_ptr<const ringscope::cuda::Stream> stream_;
    ringscope::cuda::Event start_, stop_;
    struct Armed {
        ringscope::cuda::Graph graph;
        std::vector<Operation> operations;
    };
    Armed armed_[2];  ///< without and with trace
};

}  // namespace ringscope::engine::cuda
