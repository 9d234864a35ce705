// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/experiment.hpp"
#include "engine/collective.hpp"
#include "verify/guarded_buffer.hpp"
#include "verify/verifier.hpp"

namespace ringscope::bench {

/// The user buffers of a case on one rank: an output per operation of a sample, and one input for all of them
/// where the case is not in place. Test data go in before a sample and are checked after it.
class CaseBuffers {
 public:
    virtual ~CaseBuffers() = default;
    /// All operations that a sample may have; the first of them where it has fewer.
    [[nodiscard]] virtual std::span<const engine::Operation> operations() const = 0;
    /// The test data of this seed for the first `ops` operations; outputs are poisoned.
    virtual void fill(std::int64_t ops, std::uint64_t seed) = 0;
    /// Checks operation `op` after it ran on the data of this seed.
    [[nodiscard]] virtual verify::Verdict check(std::int64_t op, std::uint64_t seed) = 0;
};

/// Buffers in memory of the host: this process's own, or some that the caller owns.
class HostBuffers final : public CaseBuffers {
 public:
    HostBuffers(
        const Case& point, verify::Verifier verifier, int rank, std::int64_t operations,
        std::byte* memory = nullptr
    );
    /// The bytes of memory that they take.
    [[nodiscard]] static std::int64_t bytes_needed(const Case& point, std::int64_t operations);

    [[nodiscard]] std::span<const engine::Operation> operations() const override { return operations_; }
    void fill(std::int64_t ops, std::uint64_t seed) override;
    [[nodiscard]] verify::Verdict check(std::int64_t op, std::uint64_t seed) override;

 private:
    std::int64_t count_;
    bool in_place_;
    int rank_;
    verify::Verifier verifier_;
    std::optional<verify::GuardedBuffer> input_;
    std::vector<verify::GuardedBuffer> outputs_;
    std::vector<engine::Operation> operations_;
};

/// Buffers in memory of the current device, which the caller owns. Throws Error in a build without CUDA.
[[nodiscard]] std::unique_ptr<CaseBuffers> make_device_buffers(
    const Case& point, verify::Verifier verifier, int rank, std::int64_t operations, std::byte* memory,
    std::int64_t bytes
);
/// The bytes of device memory that they take.
[[nodiscard]] std::int64_t device_bytes(const Case& point, std::int64_t operations);

/// Operations that a sample may have: where they are isolated one, and some more on the host where one may be
/// too short for its clock; back to back all, and in a graph a fixed number, as far as the outputs fit into
/// memory.
[[nodiscard]] std::int64_t operations_per_sample(
    const Case& point, const Experiment& experiment, bool on_device
);

/// Bytes of user buffers of the host, with their guards, that a case takes on each rank.
[[nodiscard]] std::int64_t buffer_bytes(const Case& point, const Experiment& experiment);

}  // namespace ringscope::bench
