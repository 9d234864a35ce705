// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/ceilings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ringscope::machine {
namespace {

constexpr double tolerance = 1.05;

/// std::fmax takes the number where the other is NaN.
double best_of(const trace::MachineRow& row) {
    return std::fmax(row.bandwidth, row.copy_engine_bandwidth);
}

std::string in_gb(double rate) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f GB/s", rate / 1e9);
    return text;
}

}  // namespace

std::string in_words(const Excess& excess) {
    return in_gb(excess.rate) + " from rank " + std::to_string(excess.src) + " to rank " +
           std::to_string(excess.dst) + ", whose link was measured at " + in_gb(excess.ceiling);
}

double Ceilings::rate(const std::string& engine, std::int32_t src, std::int32_t dst, std::int64_t bytes)
    const {
    double best = trace::nan, of_largest = trace::nan;
    std::int64_t largest = 0;
    for (const trace::MachineRow& row : rows_) {
        if (row.engine != engine || row.src != src || row.dst != dst || std::isnan(best_of(row))) continue;
        if (row.bytes >= bytes) best = std::fmax(best, best_of(row));
        if (row.bytes >= largest) of_largest = best_of(row);
        largest = std::max(largest, row.bytes);
    }
    return std::isnan(best) ? of_largest : best;
}

std::optional<Excess> Ceilings::excess(const Speed& speed) const {
    std::optional<Excess> worst;
    if (rows_.empty() || !(speed.time_ns > 0)) return worst;
    for (std::int32_t src = 0; src < speed.payload.ranks(); ++src) {
        for (std::int32_t dst = 0; dst < speed.payload.ranks(); ++dst) {
            const std::int64_t bytes = speed.payload.at(src, dst);
            if (bytes <= 0) continue;
            const Excess found{
                src, dst, static_cast<double>(bytes) / speed.time_ns * 1e9,
                rate(speed.engine, src, dst, std::min(bytes, speed.reused_bytes))};
            // False where there is no ceiling.
            if (!(found.rate > tolerance * found.ceiling)) continue;
            if (!worst || found.rate / found.ceiling > worst->rate / worst->ceiling) worst = found;
        }
    }
    return worst;
}

}  // namespace ringscope::machine
