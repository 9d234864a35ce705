// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "config/node.hpp"
#include "config/parse.hpp"

namespace ringscope::config {

/// The algorithms and engines of a document that the vocabulary lacks, each with the nearest right word; and
/// parameters that belong to another algorithm.
[[nodiscard]] std::vector<Fault> unknown_names(const Node& document, const Vocabulary& vocabulary);

}  // namespace ringscope::config
