// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "clock/clocks.hpp"
#include "trace/rows.hpp"

namespace ringscope::bench {

/// How clocks stood to each other at one moment, and the questions that say so.
struct ClockRecord {
    std::vector<trace::ClockRow> rows;
    std::vector<trace::ClockExchangeRow> exchanges;

    void add(const trace::ClockRow& row, const std::vector<clock::Exchange>& asked);
};

/// Of clocks of processes that have just been compared; at rank 0.
[[nodiscard]] ClockRecord record_of(
    const clock::Clocks& clocks, const std::vector<clock::Comparison>& comparisons, const std::string& anchor
);

}  // namespace ringscope::bench
