// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/rows.hpp"

/// Words that say what to be careful with in a case that ended well: docs/trace-schema.md has the list.
namespace ringscope::bench {

inline void add_mark(trace::CaseRow& row, const std::string& word) {
    row.marks += (row.marks.empty() ? "" : " ") + word;
}

}  // namespace ringscope::bench
