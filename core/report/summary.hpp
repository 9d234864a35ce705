// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment.hpp"
#include "trace/rows.hpp"

namespace ringscope::report {

/// What a finished case says in one line: the numbers behind a row of the table, of --json and of --csv.
struct CaseSummary {
    Case point;
    trace::CaseRow row;
    std::int32_t ranks = 1;
    double time_ns = 0;  ///< headline, of one operation; NaN where there is none (failed, wrong, skipped)
    double busiest_link_bytes = 0;  ///< payload of the busiest directed link; NaN where not observable
    double waited_share = 0;        ///< share of the traced time spent waiting, 0..1; NaN where not traced
    /// Time of a kernel that does nothing, launched and timed as the mode does it; NaN where not measured.
    double empty_ns = std::numeric_limits<double>::quiet_NaN();

    /// The time of a verified case; NaN for every other one, whatever time_ns says.
    [[nodiscard]] double verified_time_ns() const;
    /// M / t in GB/s (1e9); NaN without a time.
    [[nodiscard]] double algbw() const;
    /// algbw * 2(N-1)/N, nccl-tests' bus bandwidth of an all-reduce; NaN without a time, 0 for one rank.
    [[nodiscard]] double busbw() const;
    /// Payload of the busiest directed link / t in GB/s: what the algorithm asks of one link, with no formula
    /// in it.
    [[nodiscard]] double link_bandwidth() const;
};

/// The verdict on the traffic of a whole run, for the closing line.
struct TrafficVerdict {
    std::int64_t cases_checked = 0;         ///< cases with a declared value
    std::int64_t links_checked = 0;         ///< (case, src, dst) with a declared value
    std::int64_t links_traced = 0;          ///< of these, with an account of traced iterations
    std::int64_t links_equal = 0;           ///< declared = traced = closed form, as far as each exists
    std::vector<std::string> differences;   ///< the first few, in words
    std::vector<std::string> not_observed;  ///< algorithms whose traffic is not observable
};

/// "ok", "wrong", "timeout", "failed", "skipped", as in the files.
[[nodiscard]] std::string_view status_name(trace::CaseStatus status) noexcept;

/// Why a case has no time, in one line: "wrong: rank 1, element 7: ..."; what is to be known of one that is
/// ok, or "".
[[nodiscard]] std::string explanation(const CaseSummary& summary);

/// The algorithm with its parameters, words first: "ring-simple channels=2", "nccl algo=ring proto=ll".
[[nodiscard]] std::string label(const AlgorithmChoice& algorithm);
/// Its parameters alone: "algo=ring channels=2".
[[nodiscard]] std::string parameters(const AlgorithmChoice& algorithm);

}  // namespace ringscope::report
