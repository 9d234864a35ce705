// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace ringscope::clock {

/// A question to another clock: asked and heard on the asker's own, answered on the other.
struct Exchange {
    std::int64_t asked_ns = 0, answered_ns = 0, heard_ns = 0;
};

/// What exchanges say of the other clock minus the asker's.
struct Offset {
    std::int64_t low_ns = 0, high_ns = 0;

    [[nodiscard]] std::int64_t middle_ns() const { return low_ns + (high_ns - low_ns) / 2; }
    /// The middle is right within this bound, rounded up.
    [[nodiscard]] std::int64_t error_ns() const { return (high_ns - low_ns + 1) / 2; }
    [[nodiscard]] bool contains(std::int64_t ns) const { return low_ns <= ns && ns <= high_ns; }
};

/// An answer is given after the question was asked and before it was heard, so each exchange bounds the
/// offset from both sides; the best bounds of all are taken (SKaMPI's method), and none depends on both ways
/// being equally long. `exchanges` must not be empty. Where the clocks drift apart by more than the shortest
/// round trip meanwhile, the bounds cross; they are exchanged then, and still hold for some moment of the
/// series.
[[nodiscard]] Offset offset_of(std::span<const Exchange> exchanges);

}  // namespace ringscope::clock
