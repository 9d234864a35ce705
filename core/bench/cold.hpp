// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/rank_result.hpp"

namespace ringscope::bench {

/// The last two phases of the cold-start ladder for a case, of every rank: `first_collective`, its first
/// sample where that is a cold one, and `steady_state`, the median of its samples that count and were not
/// traced, of one operation. Both from entry to exit on the processor's clock. A phase that a case does not
/// have has no row.
[[nodiscard]] std::vector<trace::ColdRow> cold_rows(
    std::int32_t case_index, const std::vector<RankResult>& results
);

}  // namespace ringscope::bench
