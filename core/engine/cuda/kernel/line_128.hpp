// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reduce/half.hpp"

// How the lanes of a warp share lines of LL128; for the kernel, and for a test without one.
//
// A line of 128 bytes is 120 of payload and a flag of 8. Eight lanes of 16 bytes make a line, and the same
// eight move a pair of lines. A pair's payload is 240 bytes: 15 units of 16, of which the last lane cuts one
// in two, to go in front of either flag:
//
//            lane 0   lane 1   ...   lane 6    lane 7
//   line 0   unit 0   unit 1         unit 6    front of unit 7, flag
//   line 1   unit 8   unit 9         unit 14   back of unit 7, flag
//
// So line 0 has bytes 0 to 119 of the pair and line 1 the others; every lane loads and stores whole units of
// user memory, aligned as the user's buffer is; and no word passes from lane to lane.
namespace ringscope::engine::cuda {

inline constexpr int line_128_bytes = 128;
inline constexpr int line_128_payload = 120;
inline constexpr int lanes_of_line = 8;

/// 16 bytes: a unit of user memory, or a lane's part of a line.
struct alignas(16) Words {
    std::uint32_t at[4];
};

[[nodiscard]] RINGSCOPE_HD constexpr std::uint64_t flag_in(const Words& part) {
    return std::uint64_t{part.at[3]} << 32 | part.at[2];
}

/// A lane's place among the eight of a pair of lines.
struct LineLane {
    int place;  ///< 0 to 7

    [[nodiscard]] RINGSCOPE_HD constexpr bool has_flag() const { return place == lanes_of_line - 1; }

    /// Whether the lane has a unit that comes with line `row` of the pair. The last has one for both.
    [[nodiscard]] RINGSCOPE_HD constexpr bool has_unit(int row) const { return row == 0 || !has_flag(); }
    /// Where that unit is, in bytes of the pair's payload.
    [[nodiscard]] RINGSCOPE_HD constexpr int unit_at(int row) const {
        return (lanes_of_line * row + place) * static_cast<int>(sizeof(Words));
    }

    /// What the lane stores in line `row`.
    [[nodiscard]] RINGSCOPE_HD constexpr Words to_line(const Words (&units)[2], int row, std::uint64_t flag)
        const {
        if (!has_flag()) return units[row];
        const std::uint32_t* half = units[0].at + 2 * row;
        return {half[0], half[1], static_cast<std::uint32_t>(flag), static_cast<std::uint32_t>(flag >> 32)};
    }
    /// The unit that comes with line `row`, of what the lane loaded from both.
    [[nodiscard]] RINGSCOPE_HD constexpr Words from_lines(const Words (&parts)[2], int row) const {
        if (!has_flag()) return parts[row];
        return {parts[0].at[0], parts[0].at[1], parts[1].at[0], parts[1].at[1]};
    }
};

}  // namespace ringscope::engine::cuda
