// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "clock/exchange.hpp"

namespace ringscope::clock {

/// How a clock goes by a reference clock: with an offset that grows by a constant drift. The default is the
/// reference clock itself.
struct Line {
    std::int64_t at_ns = 0;      ///< the last moment that was looked at, on the reference clock
    std::int64_t offset_ns = 0;  ///< the clock minus the reference clock at that moment
    double drift = 0;            ///< what the offset gains per time of the reference clock
    std::int64_t error_ns = 0;   ///< the offset is right within this bound until then,
    double drift_error = 0;      ///< and within so much more per time that has passed since

    [[nodiscard]] std::int64_t offset_at(std::int64_t reference_ns) const;
    /// Holds from the first moment that was looked at on, as long as both clocks keep their pace.
    [[nodiscard]] std::int64_t error_at(std::int64_t reference_ns) const;
    /// What the clock shows when the reference clock shows this, and the other way round.
    [[nodiscard]] std::int64_t from_reference(std::int64_t reference_ns) const;
    [[nodiscard]] std::int64_t to_reference(std::int64_t own_ns) const;
};

/// The least-squares line through exchanges that were asked on the reference clock and answered on the other.
/// An answer was given half of the round trip before or after the middle of it at most, whatever the ways. So
/// at each exchange the line is off by no more than that half and what it misses the middle by; the largest
/// sum of both is the error. Two lines that are so close at the first and the last exchange, T apart, drift
/// apart by 2 error / T at most, which is the error of the drift. Exchanges that took more than twice as long
/// as the shortest are left out. `exchanges` are in order of time, and not empty.
[[nodiscard]] Line fit(std::span<const Exchange> exchanges);

/// A clock by the reference of `first`, where `second` says how it goes by the clock of `first`. Errors add
/// up.
[[nodiscard]] Line compose(const Line& first, const Line& second);

}  // namespace ringscope::clock
