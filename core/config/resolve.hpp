// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/experiment.hpp"
#include "config/node.hpp"

namespace ringscope::config {

/// More cases than anybody would wait for; reached by a slip of a range.
constexpr std::int64_t most_cases = 100'000;

/// Writes values that have several spellings in one: bytes as numbers, durations in the largest unit, lists
/// as lists, maps of free keys sorted, `{name}` replaced. Throws where a value has no meaning that the schema
/// could check.
void canonicalize(Node& document);

/// The values of a canonical document; texts and the hash are left empty.
[[nodiscard]] Experiment read_experiment(const Node& document);

}  // namespace ringscope::config
