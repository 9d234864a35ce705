// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/half.hpp"

// The known bytes around a user buffer, which show a write outside of it; the same on host and device.
namespace ringscope::verify {

inline constexpr std::int64_t guard_bytes = 4096;
inline constexpr std::int64_t guard_alignment = 4096;  ///< a multiple of 256, and whole pages

/// The byte that a guard holds at an index of the memory that data and guards take together.
[[nodiscard]] RINGSCOPE_HD constexpr std::byte guard_at(std::int64_t index) {
    return static_cast<std::byte>((index * 167 + 89) & 0xff);
}

/// Data between two guards: `front` bytes of guard, the data, and a guard up to `total`.
struct GuardLayout {
    std::int64_t front = 0, bytes = 0, total = 0;

    GuardLayout() = default;
    /// The data begins `offset_bytes` behind an aligned address. Throws Error for sizes that cannot be.
    GuardLayout(std::int64_t bytes, std::int64_t offset_bytes);

    [[nodiscard]] RINGSCOPE_HD constexpr std::int64_t end_of_data() const { return front + bytes; }
    [[nodiscard]] RINGSCOPE_HD constexpr std::int64_t bytes_of_guards() const { return total - bytes; }
    /// Index in the memory of byte `i` of the guards.
    [[nodiscard]] RINGSCOPE_HD constexpr std::int64_t guard_index(std::int64_t i) const {
        return i < front ? i : i + bytes;
    }
};

}  // namespace ringscope::verify
