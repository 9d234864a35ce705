// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cuda/cuda.hpp"
#include "engine/collective.hpp"
#include "engine/cuda/device_clocks.hpp"
#include "engine/cuda/engine.hpp"
#include "engine/cuda/kernel/kernels.hpp"
#include "engine/cuda/layout.hpp"
#include "engine/cuda/stream_collective.hpp"
#include "engine/host/control.hpp"

namespace ringscope::engine::cuda {

/// The all-reduce of a single rank: a copy where out of place.
class DeviceCopy final : public StreamCollective {
 public:
    DeviceCopy(std::int64_t bytes, Mode mode, std::shared_ptr<const ringscope::cuda::Stream> own_stream)
        : StreamCollective{mode, std::move(own_stream)}, bytes_{bytes} {}

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
    std::uint64_t first_number = 0;  ///< messages that count as sent before; tests begin near a wrap
    bool direct = false;             ///< messages lie in user buffers
    bool overlaps = false;           ///< each kernel may begin before the one before it ends
    CountingKernels counting{};
};

/// An all-reduce by the interpreter kernel.
class Interpreter final : public StreamCollective {
 public:
    /// `connections` is this rank's part of the arena, zeroed.
    Interpreter(
        host::Control& control, const ringscope::cuda::HostRegistration& registration,
        const std::byte* connections, const Layout& layout, Image image, DeviceClocks& clocks,
        const InterpreterOptions& options, std::shared_ptr<const ringscope::cuda::Stream> own_stream
    );

    Timing sample_traced(std::span<const Operation> operations, EventLog& events) override;

 private:
    void enqueue(const Operation& operation) override;
    void enqueue_traced(const Operation& operation) override;
    void arm(std::span<const Operation> operations, EventLog* traced) override;
    void while_waiting(std::int64_t enter_ns) override;
    void after() override;
    [[noreturn]] void give_up(bool is_over) const;
    void launch_on(const Operation& operation, bool traced);
    void reserve_rows(std::size_t operations);
    void clear_rows();
    [[nodiscard]] std::vector<Row> fetch_rows(std::size_t operations);
    void keep(std::span<const Row> rows, std::int64_t offset_ns, EventLog& events) const;

    host::Control& control_;
    DeviceClocks& clocks_;
    InterpreterOptions options_;
    Image image_;
    Kernels kernels_;
    ringscope::cuda::DeviceMemory device_image_, states_, gave_up_;
    ringscope::cuda::DeviceMemory rows_,
        traced_;  ///< of a traced sample, and how many operations it has so far
    Launch launch_;
    std::int64_t aborted_since_ns_ = 0;
};

/// Time of a kernel that does nothing in this mode: what is not the collective's.
[[nodiscard]] std::int64_t measure_empty(const ringscope::cuda::Stream& stream, Mode mode);

}  // namespace ringscope::engine::cuda
