// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/rows.hpp"

namespace ringscope::trace {

/// Appends a word to the marks of a case, once. The words are listed in docs/trace-schema.md.
void add_mark(CaseRow& row, std::string_view word);

[[nodiscard]] bool has_mark(const CaseRow& row, std::string_view word);

}  // namespace ringscope::trace
