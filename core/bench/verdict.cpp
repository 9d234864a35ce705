// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/verdict.hpp"

#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "trace/marks.hpp"

namespace ringscope::bench {
namespace {

/// The first sample whose outputs differ between the ranks that take part, in words; "" when there is none.
std::string different_outputs(
    const std::vector<RankResult>& results, const std::vector<std::int32_t>& members
) {
    const RankResult& first = results[static_cast<std::size_t>(members.front())];
    for (std::size_t i = 0; i < first.hashes.size(); ++i) {
        for (const std::int32_t rank : members) {
            if (results[static_cast<std::size_t>(rank)].hashes[i] == first.hashes[i]) continue;
            return "iteration " + std::to_string(i) + ": the output of rank " + std::to_string(rank) +
                   " differs from that of rank " + std::to_string(members.front());
        }
    }
    return "";
}

}  // namespace

void judge(
    const std::vector<RankResult>& results, const std::vector<std::int32_t>& members, const Ledger& ledger,
    report::CaseSummary& summary
) {
    std::string what = different_outputs(results, members);
    for (auto result = results.rbegin(); result != results.rend(); ++result) {
        summary.row.wrong += result->wrong;
        if (!result->what.empty()) what = result->what;
    }
    if (!what.empty()) summary.row.wrong = std::max<std::int64_t>(1, summary.row.wrong);
    if (what.empty() && !ledger.differences.empty()) what = "traffic: " + ledger.differences.front();
    summary.row.status = what.empty() ? trace::CaseStatus::ok : trace::CaseStatus::wrong;
    summary.row.reason = what;
    const RankResult& first = results[static_cast<std::size_t>(members.front())];
    if (!first.hashes.empty()) summary.row.output_hash = first.hashes.back();
}

void note_causality(const Causality& causality, trace::CaseRow& row) {
    if (row.events_written == 0) return;
    row.causality_pairs = causality.pairs;
    row.causality_decisive = causality.decisive;
    row.causality_violations = causality.violations;
    if (causality.violations == 0) return;
    add_mark(row, "causality");
    if (row.reason.empty()) row.reason = "the trace is out of order: " + causality.first;
}

void note_choice(const PreparedCase& prepared, trace::CaseRow& row) {
    const std::string choice = prepared.chosen ? prepared.chosen() : "";
    std::istringstream words{choice};
    std::string algorithm;
    if (!(words >> algorithm >> row.protocol >> row.channels)) return;
    if (row.reason.empty()) row.reason = "chose " + choice;
}

void check_complete(const trace::CaseRow& row) {
    if (row.events_written + row.events_dropped == row.events_expected) return;
    throw Error{
        ExitCode::output, "trace incomplete: " + std::to_string(row.events_written) + " events written and " +
                              std::to_string(row.events_dropped) + " dropped, " +
                              std::to_string(row.events_expected) + " expected"};
}

}  // namespace ringscope::bench
