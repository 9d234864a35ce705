// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/effort.hpp"

namespace ringscope::machine {
namespace {

constexpr std::int64_t most_pairs = 1000, most_size_ns = 20'000'000;

std::string in_ms(std::int64_t ns) {
    return std::to_string(ns / 1'000'000) + " ms";
}

/// A warm-up and three repetitions.
std::int64_t guessed_ns(std::int64_t bytes, double bytes_per_ns) {
    return static_cast<std::int64_t>(4 * static_cast<double>(bytes) / bytes_per_ns);
}

}  // namespace

/// Half of a pair's time is for what large sizes take, however seldom they are repeated, and half for
/// repetitions.
Effort cut_to_budget(const Task& task) {
    const std::int64_t pairs = task.ranks * (task.ranks - 1);
    const std::string what = std::to_string(pairs) + " ordered pairs";
    if (pairs == 0) return {};
    if (pairs > most_pairs) return {.left_out = "everything, for there are " + what};
    const std::int64_t pair_ns = task.budget_ns / pairs;
    Effort effort;
    for (const std::int64_t bytes : task.sizes) {
        if (effort.sizes.empty() || guessed_ns(bytes, task.bytes_per_ns) <= pair_ns / 2)
            effort.sizes.push_back(bytes);
    }
    effort.size_ns =
        std::min(most_size_ns, pair_ns / 2 / std::max<std::int64_t>(1, std::ssize(effort.sizes)));
    if (effort.sizes.size() < task.sizes.size())
        effort.left_out = "sizes above " + std::to_string(effort.sizes.back()) + " bytes, for " + what +
                          " have " + in_ms(task.budget_ns);
    return effort;
}

}  // namespace ringscope::machine
