// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace ringscope::bench {
namespace {

/// How many values at each end may be left out: the most of which B(n, 1/2) has no more than 2.5 % below.
std::size_t left_out(std::size_t n) {
    constexpr double tail = 0.025;
    const auto count = static_cast<double>(n);
    // In logarithms, for 2^-n is no double where n is large.
    double log_share = -count * std::log(2.0), below = 0;
    std::size_t k = 0;
    for (; k < n; ++k) {
        below += std::exp(log_share);
        if (below > tail) break;
        log_share += std::log((count - static_cast<double>(k)) / static_cast<double>(k + 1));
    }
    return k;
}

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) return trace::nan;
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double quantile(std::vector<double> values, double q) {
    if (values.empty()) return trace::nan;
    std::ranges::sort(values);
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

Interval median_interval(std::vector<double> values) {
    const std::size_t out = left_out(values.size());
    if (out == 0) return {};
    std::ranges::sort(values);
    return {values[out - 1], values[values.size() - out]};
}

}  // namespace ringscope::bench
