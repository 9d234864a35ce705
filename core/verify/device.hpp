// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cuda/cuda.hpp"
#include "verify/guard.hpp"
#include "verify/pattern.hpp"

namespace ringscope::verify {

/// Data in device memory between guards, laid out as in a GuardedBuffer. Not owned.
struct DeviceRegion {
    std::byte* memory = nullptr;
    GuardLayout layout;

    [[nodiscard]] std::byte* data() const { return memory + layout.front; }
};

/// What a kernel found in an output.
struct DeviceFinding {
    std::int64_t differing = 0;  ///< elements whose bytes are not those of the expected table
    std::uint64_t hash = 0;      ///< of the output's bytes: equal for equal bytes on any device
};

/// A Pattern's test data of one rank on the current device: filled and checked by kernels, near the speed of
/// the memory. Data begin at a multiple of their element's size. All calls are done when they return.
class DevicePattern {
 public:
    /// All work goes to `stream`, which must outlive this.
    DevicePattern(const Pattern& pattern, int rank, const cuda::Stream& stream);

    /// The rank's input; 0xFF bytes for one that does not contribute.
    void fill(std::byte* out, std::int64_t count, std::uint64_t seed) const;
    /// Fills with 0xFF: a NaN in every floating-point type.
    void poison(std::byte* out, std::int64_t bytes) const;
    void restore_guards(const DeviceRegion& region) const;

    /// Compares bit by bit with the expected result (in real mode the least that is accepted).
    [[nodiscard]] DeviceFinding check_output(const std::byte* got, std::int64_t count, std::uint64_t seed)
        const;
    /// Elements in which the rank's input differs from what `fill` wrote.
    [[nodiscard]] std::int64_t check_input(const std::byte* input, std::int64_t count, std::uint64_t seed)
        const;
    /// As GuardedBuffer::first_damage.
    [[nodiscard]] std::optional<std::int64_t> first_damage(const DeviceRegion& region) const;

 private:
    [[nodiscard]] DeviceFinding compare(
        const cuda::DeviceMemory& table, const std::byte* data, std::int64_t count, std::uint64_t seed
    ) const;

    const cuda::Stream& stream_;
    std::int32_t size_;  ///< bytes of an element
    cuda::DeviceMemory input_, expected_;
    cuda::DeviceMemory found_;   ///< what kernels add to
    cuda::PinnedMemory result_;  ///< a copy of it
};

}  // namespace ringscope::verify
