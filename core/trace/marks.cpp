// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/marks.hpp"

#include <sstream>
#include <string>

namespace ringscope::trace {

void add_mark(CaseRow& row, std::string_view word) {
    if (has_mark(row, word)) return;
    if (!row.marks.empty()) row.marks += ' ';
    row.marks += word;
}

bool has_mark(const CaseRow& row, std::string_view word) {
    std::istringstream marks{row.marks};
    for (std::string mark; marks >> mark;) {
        if (mark == word) return true;
    }
    return false;
}

}  // namespace ringscope::trace
