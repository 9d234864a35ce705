// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/node.hpp"

namespace ringscope::config {

/// configs/schema/experiment.schema.json, compiled in.
extern const char* const schema_text;

/// A value that the schema refuses, as keys and list indexes from the root, and the validator's own words for
/// it.
struct Violation {
    std::vector<std::string> path;
    std::string what;
};

/// Everything that the schema refuses, containers of refused values included.
[[nodiscard]] std::vector<Violation> schema_violations(const Node& document);

/// The violations in words that name the key, the place and the nearest right word; in the order of the file.
[[nodiscard]] std::vector<Fault> explain(const Node& document, const std::vector<Violation>& violations);

/// A valid document with every default of the schema written out, keys in the schema's order.
[[nodiscard]] Node with_defaults(const Node& document);

}  // namespace ringscope::config
