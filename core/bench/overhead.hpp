// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "bench/statistics.hpp"

namespace ringscope::bench {

/// A timed sample, in the order in which they were taken.
struct TimedSample {
    double ns = 0;  ///< of one operation
    bool traced = false;
};

/// What tracing costs. Traced samples are taken in blocks between untraced ones, so that what changes slowly
/// changes both; a block's overhead is the median of its traced samples over the median of the untraced ones
/// right before and after it, less 1.
struct Overhead {
    double share = trace::nan;  ///< median over the blocks
    Interval interval{};        ///< of that median; NaN for fewer than 6 blocks
    double ns = trace::nan;     ///< median over the blocks of traced less untraced, of one operation
    /// The larger end, without its sign, of the interval that the same statistic has where untraced samples
    /// are taken for traced ones: no overhead below it can be told from none. NaN for fewer than 13.
    double noise_floor = trace::nan;
};

[[nodiscard]] Overhead measure_overhead(std::span<const TimedSample> samples);

}  // namespace ringscope::bench
