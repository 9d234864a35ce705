// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/node.hpp"

namespace ringscope::config {

constexpr std::size_t file_limit = 64 * 1024;        ///< bytes of a file that people write
constexpr std::size_t resolved_limit = 1024 * 1024;  ///< bytes of a text that write_yaml wrote

/// The one document of a YAML text. Refused, each with its place: aliases, anchors, tags, `<<`, duplicate
/// keys, keys that are no words, nesting deeper than 16, lists and maps of more than 4096, texts over 1024
/// bytes, control characters, NUL, invalid UTF-8, more than one document, nothing at all, and more than
/// `limit` bytes.
[[nodiscard]] Node parse_yaml(
    std::string_view text, const std::string& source, std::size_t limit = file_limit
);

/// The same for a value on the command line: every mark is `source` alone, and no text means null.
[[nodiscard]] Node parse_yaml_value(std::string_view text, const std::string& source);

/// YAML of a tree: equal trees give equal texts, and parse_yaml gives the tree back.
[[nodiscard]] std::string write_yaml(const Node& root);

/// A text as a YAML scalar that reads as that text, quoted where needed.
[[nodiscard]] std::string write_text(std::string_view text);

}  // namespace ringscope::config
