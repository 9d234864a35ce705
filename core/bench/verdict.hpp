// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/causality.hpp"
#include "bench/ledger.hpp"
#include "bench/prepare.hpp"
#include "bench/rank_result.hpp"
#include "report/summary.hpp"
#include "trace/rows.hpp"

/// What a case's row says of the results of all ranks.
namespace ringscope::bench {

/// The verdict on the data, which comes first, and on the traffic. `members` are the ranks that take part.
void judge(
    const std::vector<RankResult>& results, const std::vector<std::int32_t>& members, const Ledger& ledger,
    report::CaseSummary& summary
);

/// A trace that lost events still has pairs to check.
void note_causality(const Causality& causality, trace::CaseRow& row);

/// "ring ll 24 channels" of a library that tells.
void note_choice(const PreparedCase& prepared, trace::CaseRow& row);

/// The number of events is known beforehand, so none can be missing without being noticed: throws output.
void check_complete(const trace::CaseRow& row);

}  // namespace ringscope::bench
