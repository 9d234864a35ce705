// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringscope::config {

/// Where something was written: a place in a file, or a word of the command line (line 0).
struct Mark {
    std::string source;
    int line = 0;
    int column = 0;
};

/// "configs/x.yaml:12:3", or the source alone where there are no lines.
[[nodiscard]] std::string to_string(const Mark& mark);

/// Something wrong with an experiment, and where.
struct Fault {
    Mark mark;
    std::string what;
};

[[nodiscard]] std::string to_string(const Fault& fault);  ///< "configs/x.yaml:12:3: what"

/// Throws the usage error "where: what".
[[noreturn]] void fail(const Mark& mark, const std::string& what);

enum class Kind { null, boolean, integer, real, text, list, map };

struct Entry;

/// One value of a YAML document as a plain tree that remembers where it was written.
struct Node {
    Kind kind = Kind::null;
    std::string text;  ///< a scalar as written
    bool boolean = false;
    std::int64_t integer = 0;
    double real = 0;
    std::vector<Node> items;     ///< of a list
    std::vector<Entry> entries;  ///< of a map, in the order written
    Mark mark;

    [[nodiscard]] const Node* find(std::string_view key) const;
    [[nodiscard]] Node* find(std::string_view key);
    [[nodiscard]] const Node& at(std::string_view key) const;  ///< the key is known to be there
    [[nodiscard]] Node& at(std::string_view key);
};

struct Entry {
    std::string key;
    Mark mark;  ///< of the key
    Node value;
};

[[nodiscard]] Node make_null(Mark mark);
[[nodiscard]] Node make_boolean(bool value, Mark mark);
[[nodiscard]] Node make_integer(std::int64_t value, Mark mark);
[[nodiscard]] Node make_text(std::string value, Mark mark);
[[nodiscard]] Node make_list(std::vector<Node> items, Mark mark);
[[nodiscard]] Node make_map(std::vector<Entry> entries, Mark mark);

/// A plain (not quoted) scalar: true, false, a decimal number, else text. A number with leading zeros, which
/// loaders read differently, stays text.
[[nodiscard]] Node make_plain(std::string text, Mark mark);

/// The items of a list, or the single value where a list of one was written without brackets.
[[nodiscard]] std::vector<Node> as_list(const Node& node);

/// What a message shows of a value: "`abc`", "a list", "a map", "nothing".
[[nodiscard]] std::string shown(const Node& node);

}  // namespace ringscope::config
