// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/case_buffers.hpp"
#include "cuda/cuda.hpp"
#include "verify/device.hpp"

namespace ringscope::bench {

/// Buffers in device memory that somebody else owns. They are checked there; only what differs from the
/// expected bytes is copied to the host, where the same Verifier as for HostBuffers says what is wrong with
/// it. The hash of a verdict is the device's.
class DeviceBuffers final : public CaseBuffers {
 public:
    /// Lays out the buffers in `memory`, of the current device, whose address is a multiple of 256. Throws
    /// Error when `bytes` are less than bytes_needed.
    DeviceBuffers(
        const Case& point, verify::Verifier verifier, int rank, std::int64_t operations, std::byte* memory,
        std::int64_t bytes
    );

    /// Bytes of device memory that a case takes with this number of operations in a sample.
    [[nodiscard]] static std::int64_t bytes_needed(const Case& point, std::int64_t operations);

    [[nodiscard]] std::span<const engine::Operation> operations() const override { return operations_; }
    void fill(std::int64_t ops, std::uint64_t seed) override;
    [[nodiscard]] verify::Verdict check(std::int64_t op, std::uint64_t seed) override;

 private:
    void lay_out(std::byte* memory, std::int64_t operations);
    [[nodiscard]] verify::DeviceRegion make_region(std::byte*& memory) const;
    [[nodiscard]] bool is_as_filled(std::uint64_t seed) const;
    [[nodiscard]] verify::Verdict check_on_host(const verify::DeviceRegion& output, std::uint64_t seed);
    void copy_to_host(std::optional<verify::GuardedBuffer>& copy, const verify::DeviceRegion& region) const;

    std::int64_t count_;
    std::int64_t offset_bytes_;
    bool in_place_;
    int rank_;
    verify::Verifier verifier_;
    cuda::Stream stream_;
    verify::DevicePattern pattern_;
    verify::GuardLayout layout_;
    verify::DeviceRegion input_;  ///< of no use in place
    std::vector<verify::DeviceRegion> outputs_;
    std::vector<engine::Operation> operations_;
    std::optional<verify::GuardedBuffer> host_input_, host_output_;  ///< made when first needed
};

}  // namespace ringscope::bench
