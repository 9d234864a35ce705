// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "bootstrap/bootstrap.hpp"
#include "clock/comparison.hpp"

namespace ringscope::clock {

struct HostClockOptions {
    int rounds = 1000;
    std::int64_t patience_ns = 10'000'000'000;  ///< for a rank to answer
    std::function<std::int64_t()> clock = now_ns;
};

/// Compares the clocks of the ranks of each host, through memory that they share. [collective] The kernel
/// gives all processes one clock, which is verified: where the bounds contain 0 the offset is 0. Where they
/// do not, a rank is in a time namespace of its own, and the offset is what was measured. The first rank of a
/// host asks all others of it and has what came of it; nothing at the others. Throws AgreedError (timeout)
/// where a rank does not answer.
[[nodiscard]] std::vector<Comparison> compare_on_hosts(
    bootstrap::Bootstrap& bootstrap, const HostClockOptions& options
);

}  // namespace ringscope::clock
