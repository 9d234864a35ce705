// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/prepare.hpp"
#include "trace/rows.hpp"

namespace ringscope::bench {

/// The traffic of a case per directed link, and what does not agree in it.
struct Ledger {
    std::vector<trace::TrafficRow> rows;  ///< one per link that carries or should carry something
    std::vector<std::string>
        differences;  ///< in words; empty when declared = traced = closed form on every link
};

/// Holds the independent accounts of a case's traffic against each other, as integers: what the schedule
/// declares, what the copy loops stored (kept at both ends, in every traced iteration), and the closed form.
/// `ops`: operations of a traced iteration. `lossy`: events were dropped, so there is no traced account.
[[nodiscard]] Ledger make_ledger(
    std::int32_t case_index, const PreparedCase& prepared, std::span<const trace::EventRow> events,
    std::int64_t ops, bool lossy
);

}  // namespace ringscope::bench
