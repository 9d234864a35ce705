// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "bootstrap/bootstrap.hpp"
#include "clock/exchange.hpp"

namespace ringscope::clock {

/// How the monotonic clock of a rank stands to that of rank 0.
struct HostClock {
    std::int64_t offset_ns = 0;         ///< the rank's clock minus rank 0's; 0 where they are one clock
    std::int64_t error_ns = 0;          ///< the offset is right within this bound
    std::vector<Exchange> exchanges{};  ///< rank 0 has them: asked there, answered by the rank
};

struct HostClockOptions {
    int rounds = 1000;
    std::int64_t patience_ns = 10'000'000'000;  ///< for a rank to answer
    std::function<std::int64_t()> clock = now_ns;
};

/// Compares the clocks of the ranks of one host, through memory that they share. [collective] The kernel
/// gives all processes one clock, which is verified: where the bounds contain 0 the offset is 0. Where they
/// do not, a rank is in a time namespace of its own, and the offset is what was measured. At all ranks, one
/// per rank. Throws AgreedError (timeout) where a rank does not answer.
[[nodiscard]] std::vector<HostClock> measure_host_clocks(
    bootstrap::Bootstrap& bootstrap, const HostClockOptions& options
);

}  // namespace ringscope::clock
