// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "doctor/examine.hpp"
#include "doctor/finding.hpp"

namespace ringscope::doctor {

/// What a machine is, in some ten lines, each with its end.
[[nodiscard]] std::string machine_as_text(const Examination& examination);

/// The findings for people; one line where there is none.
[[nodiscard]] std::string findings_as_text(const std::vector<Finding>& findings);

/// {"machine": {...}, "findings": [...]}: numbers are null where not known.
[[nodiscard]] std::string as_json(const Examination& examination, const std::vector<Finding>& findings);

}  // namespace ringscope::doctor
