// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/prepare.hpp"
#include "bench/rank_result.hpp"
#include "report/summary.hpp"

namespace ringscope::bench {

/// Makes of all ranks' samples the time of a case, what tracing cost, how far apart the ranks began, and the
/// marks that follow from them. `summary` has the verdict on the data already.
void set_times(
    const std::vector<RankResult>& results, const PreparedCase& prepared, report::CaseSummary& summary
);

/// Whether the first tenth of a series, in the order it was taken, is slower than the rest: more than 10 %
/// slower, and slower than nine tenths of it. Says nothing of fewer than 20.
[[nodiscard]] bool begins_slower(const std::vector<double>& series);

}  // namespace ringscope::bench
