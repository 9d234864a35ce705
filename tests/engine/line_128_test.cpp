// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/kernel/line_128.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

// What the eight lanes of a pair of LL128 lines do, one after the other: no GPU needed.
namespace ringscope::engine::cuda {
namespace {

constexpr std::uint64_t flag = 0xF1F2F3F4F5F6F7F8;

using Payload = std::array<std::uint8_t, 2 * line_128_payload>;
using Lines = std::array<std::array<std::uint8_t, line_128_bytes>, 2>;

/// Every byte is its place.
Payload numbered() {
    Payload payload;
    std::iota(payload.begin(), payload.end(), std::uint8_t{0});
    return payload;
}

void load(const Payload& payload, LineLane lane, Words (&units)[2]) {
    for (int row = 0; row < 2; ++row) {
        if (lane.has_unit(row)) std::memcpy(&units[row], payload.data() + lane.unit_at(row), sizeof(Words));
    }
}

Lines stored(const Payload& payload) {
    Lines lines{};
    for (int place = 0; place < lanes_of_line; ++place) {
        Words units[2]{};
        load(payload, {place}, units);
        for (std::size_t row = 0; row < 2; ++row) {
            const Words part = LineLane{place}.to_line(units, static_cast<int>(row), flag);
            std::memcpy(lines[row].data() + place * 16, &part, sizeof(part));
        }
    }
    return lines;
}

TEST(Line128, EachLine_HoldsItsHundredAndTwentyBytesOnceAndTheFlagLast) {
    const Lines lines = stored(numbered());
    for (std::size_t row = 0; row < 2; ++row) {
        std::array<std::uint8_t, line_128_payload> bytes, expected;
        std::copy_n(lines[row].begin(), line_128_payload, bytes.begin());
        std::ranges::sort(bytes);
        std::iota(expected.begin(), expected.end(), static_cast<std::uint8_t>(row * line_128_payload));
        EXPECT_EQ(bytes, expected) << "line " << row;
        std::uint64_t last = 0;
        std::memcpy(&last, lines[row].data() + line_128_payload, sizeof(last));
        EXPECT_EQ(last, flag);
    }
}

TEST(Line128, WhatIsTakenFromLines_IsWhatWasStored) {
    const Payload payload = numbered();
    const Lines lines = stored(payload);
    Payload taken{};
    for (int place = 0; place < lanes_of_line; ++place) {
        const LineLane lane{place};
        Words parts[2];
        for (std::size_t row = 0; row < 2; ++row) {
            std::memcpy(&parts[row], lines[row].data() + place * 16, sizeof(Words));
            EXPECT_EQ(flag_in(parts[row]) == flag, lane.has_flag());
        }
        for (int row = 0; row < 2; ++row) {
            const Words unit = lane.from_lines(parts, row);
            if (lane.has_unit(row)) std::memcpy(taken.data() + lane.unit_at(row), &unit, sizeof(unit));
        }
    }
    EXPECT_EQ(taken, payload);
}

/// User memory is loaded and stored in 15 units of 16 bytes, each by one lane.
TEST(Line128, Units_AreFifteenAlignedOnes) {
    std::array<int, 15> owners{};
    for (int place = 0; place < lanes_of_line; ++place) {
        for (int row = 0; row < 2; ++row) {
            const LineLane lane{place};
            if (!lane.has_unit(row)) continue;
            EXPECT_EQ(lane.unit_at(row) % 16, 0);
            ++owners.at(static_cast<std::size_t>(lane.unit_at(row) / 16));
        }
    }
    EXPECT_TRUE(std::ranges::all_of(owners, [](int n) { return n == 1; }));
}

}  // namespace
}  // namespace ringscope::engine::cuda
