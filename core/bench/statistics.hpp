// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace ringscope::bench {

/// The median, the mean of the middle two for an even number; NaN of nothing.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace ringscope::bench
