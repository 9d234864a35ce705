// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/rows.hpp"

namespace ringscope::bench {

/// The median, the mean of the middle two for an even number; NaN of nothing.
[[nodiscard]] double median(std::vector<double> values);

/// The smallest value that at least the share `q` of the values do not exceed (nearest rank); NaN of nothing.
[[nodiscard]] double quantile(std::vector<double> values, double q);

struct Interval {
    double low = trace::nan, high = trace::nan;
};

/// The 95 % interval of the median, by ranks of the binomial distribution, without an assumption on how the
/// values are distributed. Fewer than 6 values have none: NaN.
[[nodiscard]] Interval median_interval(std::vector<double> values);

}  // namespace ringscope::bench
