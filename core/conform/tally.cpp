// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "conform/tally.hpp"

namespace ringscope::conform {

void Tally::add(const report::CaseSummary& summary) {
    if (summary.row.status == trace::CaseStatus::ok) {
        ++group_.passed;
    } else if (summary.row.status == trace::CaseStatus::skipped) {
        ++group_.skipped;
        group_.remark = summary.row.reason;
    } else {
        ++group_.failed;
    }
}

}  // namespace ringscope::conform
