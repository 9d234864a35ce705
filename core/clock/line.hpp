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
    std::int64_t at_ns = 0;      ///< a moment on the reference clock
    std::int64_t offset_ns = 0;  ///< the clock minus the reference clock at that moment
    double drift = 0;            ///< what the offset gains per time of the reference clock
    std::int64_t error_ns = 0;   ///< the offset is right within this bound at that moment,
    double drift_error = 0;      ///< and within so much more per time before or after it

    [[nodiscard]] std::int64_t offset_at(std::int64_t reference_ns) const;
    /// Holds as long as both clocks keep their pace.
    [[nodiscard]] std::int64_t error_at(std::int64_t reference_ns) const;
    /// What the clock shows when the reference clock shows this, and the other way round.
    [[nodiscard]] std::int64_t from_reference(std::int64_t reference_ns) const;
    [[nodiscard]] std::int64_t to_reference(std::int64_t own_ns) const;
};

/// The line of least squares through exchanges that were asked on the reference clock and answered on the
/// other, which weigh by the inverse square of their round trips. `exchanges` are in order of time, not
/// empty.
///
/// An answer was given half of the round trip before or after the middle of it at most, whatever the ways. So
/// at each exchange the truth is off the line by no more than that half and what the line misses the middle
/// by. Two such bounds, T apart, allow it a drift of (first + second) / T off that of the line. The two are
/// taken that say most of the last exchange's moment: the second is the error, at its own moment.
[[nodiscard]] Line fit(std::span<const Exchange> exchanges);

/// A clock by the reference of `first`, where `second` says how it goes by the clock of `first`. Errors add
/// up.
[[nodiscard]] Line compose(const Line& first, const Line& second);

}  // namespace ringscope::clock
