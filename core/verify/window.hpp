// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reduce/half.hpp"
#include "verify/random.hpp"

// How a message is put together from the tables of a Pattern, the same on host and device.
namespace ringscope::verify {

inline constexpr std::int64_t table_length = 8191;  ///< elements before a table repeats: a prime
inline constexpr std::int64_t block_length = 2048;  ///< elements that are contiguous in a table

/// Where the window of a block begins. Both steps are smaller than the prime table_length, so that fewer than
/// table_length steps never lead back to the same place. Stale data of the previous seed would be right at a
/// distance of 4001 blocks, as far away as can be (4186 = 4001 * 5113 modulo 8191).
[[nodiscard]] RINGSCOPE_HD constexpr std::int64_t window_of(std::int64_t block, std::uint64_t seed) {
    constexpr std::uint64_t length = table_length, block_step = 5113, seed_step = 4186;
    const auto number = static_cast<std::uint64_t>(block);
    const std::uint64_t round = number / length == 0 ? 0 : mix(number / length) % length;
    return static_cast<std::int64_t>((number * block_step + seed % length * seed_step + round) % length);
}

}  // namespace ringscope::verify
