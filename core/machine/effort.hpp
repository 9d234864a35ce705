// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

/// How much is measured, and how often: a ceiling wants the best of a few attempts, and a run wants to begin.
namespace ringscope::machine {

/// The size in whose row latencies are: a flag. Bandwidths are measured from the next size on.
inline constexpr std::int64_t flag_bytes = 8;

/// What there is to do on one engine.
struct Task {
    std::int64_t ranks = 0;
    std::vector<std::int64_t> sizes;  ///< bytes, ascending; the wish
    double bytes_per_ns = 1;          ///< a slow machine's rate, to guess what a size takes
    std::int64_t budget_ns = 0;       ///< for all ordered pairs together
};

struct Effort {
    std::vector<std::int64_t> sizes{};  ///< none: nothing is measured
    std::int64_t size_ns = 0;           ///< for repetitions of one size on one pair
    std::string left_out{};             ///< in words; "" when nothing is
};

/// Cuts a task to its budget, the same on all ranks: large sizes go first; of more than 1000 ordered pairs
/// nothing is measured.
[[nodiscard]] Effort cut_to_budget(const Task& task);

/// The shortest time of one pass in ns. `timed(passes)` gives the time of so many passes in ns. Their number
/// is doubled until they make `batch_ns`, which warms up what they touch; such batches are then repeated
/// until `limit_ns` have passed, and three times at least unless that took ten times the limit.
template <class Timed>
double shortest_ns(Timed timed, std::int64_t batch_ns, std::int64_t limit_ns) {
    constexpr std::int64_t least_batches = 3, patience = 10, most_passes = 1 << 20;
    std::int64_t passes = 1;
    while (timed(passes) < batch_ns && passes < most_passes) passes *= 2;
    double shortest = std::numeric_limits<double>::infinity();
    std::int64_t batches = 0, passed = 0;
    do {
        const std::int64_t ns = std::max<std::int64_t>(1, timed(passes));
        shortest = std::min(shortest, static_cast<double>(ns) / static_cast<double>(passes));
        passed += ns;
        ++batches;
    } while (passed < limit_ns || (batches < least_batches && passed < patience * limit_ns));
    return shortest;
}

/// byte/s
[[nodiscard]] inline double rate_of(std::int64_t bytes, double ns) {
    return static_cast<double>(bytes) / ns * 1e9;
}

}  // namespace ringscope::machine
