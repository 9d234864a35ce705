// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trace/rows.hpp"

namespace ringscope::trace {

/// Marks of a change of the machine while a case ran: see bench/health_watch.hpp.
inline constexpr std::array<std::string_view, 4> health_marks{
    "link-changed", "aer-errors", "throttled", "xid"};

/// Appends a word to the marks of a case, once. The words are listed in docs/trace-schema.md.
void add_mark(CaseRow& row, std::string_view word);

[[nodiscard]] std::vector<std::string> marks_of(const CaseRow& row);
[[nodiscard]] bool has_mark(const CaseRow& row, std::string_view word);

}  // namespace ringscope::trace
