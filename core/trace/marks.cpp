// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/marks.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace ringscope::trace {

void add_mark(CaseRow& row, std::string_view word) {
    if (has_mark(row, word)) return;
    if (!row.marks.empty()) row.marks += ' ';
    row.marks += word;
}

std::vector<std::string> marks_of(const CaseRow& row) {
    std::istringstream words{row.marks};
    return {std::istream_iterator<std::string>{words}, {}};
}

bool has_mark(const CaseRow& row, std::string_view word) {
    const std::vector<std::string> marks = marks_of(row);
    return std::ranges::find(marks, word) != marks.end();
}

}  // namespace ringscope::trace
