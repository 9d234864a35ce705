// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ringscope::bench {

/// What reading a clock takes, and how far apart two of its values are at least.
struct Timer {
    std::int64_t cost_ns = 0, step_ns = 0;

    /// The shortest time that can be taken with it: reading it is then less than 5 % of what is measured, and
    /// its step less than 10 % (Hoefler and Belli, SC 2015, rule 10).
    [[nodiscard]] std::int64_t shortest_ns() const { return std::max(20 * cost_ns, 10 * step_ns); }
};

/// The host's monotonic clock, measured at the first call.
[[nodiscard]] const Timer& host_timer();

}  // namespace ringscope::bench
