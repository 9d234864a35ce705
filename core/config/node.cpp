// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/node.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace ringscope::config {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool looks_like_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    const bool leading_zero = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
    return !text.empty() && is_digit(text[0]) && !leading_zero;
}

template <class Number>
bool read_whole(std::string_view text, Number& value) {
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc{} && result.ptr == end;
}

/// 1e6 means a whole number to whoever writes it; 1.0 does not.
bool is_whole_exponent(std::string_view text, double value) {
    constexpr double exact_limit = 9007199254740992.0;
    return text.find('.') == std::string_view::npos && std::abs(value) <= exact_limit &&
           value == std::floor(value);
}

Node make_scalar(Kind kind, std::string text, Mark mark) {
    Node node;
    node.kind = kind;
    node.text = std::move(text);
    node.mark = std::move(mark);
    return node;
}

Node make_real(double value, std::string text, Mark mark) {
    Node node = make_scalar(Kind::real, std::move(text), std::move(mark));
    node.real = value;
    return node;
}

}  // namespace

std::string to_string(const Mark& mark) {
    if (mark.line == 0) return mark.source;
    return mark.source + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

std::string to_string(const Fault& fault) {
    return to_string(fault.mark) + ": " + fault.what;
}

void fail(const Mark& mark, const std::string& what) {
    throw Error{ExitCode::usage, to_string(Fault{mark, what})};
}

const Node* Node::find(std::string_view key) const {
    const auto found = std::ranges::find(entries, key, &Entry::key);
    return found == entries.end() ? nullptr : &found->value;
}

Node* Node::find(std::string_view key) {
    const auto found = std::ranges::find(entries, key, &Entry::key);
    return found == entries.end() ? nullptr : &found->value;
}

const Node& Node::at(std::string_view key) const {
    if (const Node* found = find(key)) return *found;
    throw Error{ExitCode::internal, to_string(mark) + ": the key `" + std::string{key} + "` has no default"};
}

Node& Node::at(std::string_view key) {
    return const_cast<Node&>(std::as_const(*this).at(key));
}

Node make_null(Mark mark) {
    return make_scalar(Kind::null, "null", std::move(mark));
}

Node make_boolean(bool value, Mark mark) {
    Node node = make_scalar(Kind::boolean, value ? "true" : "false", std::move(mark));
    node.boolean = value;
    return node;
}

Node make_integer(std::int64_t value, Mark mark) {
    Node node = make_scalar(Kind::integer, std::to_string(value), std::move(mark));
    node.integer = value;
    return node;
}

Node make_text(std::string value, Mark mark) {
    return make_scalar(Kind::text, std::move(value), std::move(mark));
}

Node make_list(std::vector<Node> items, Mark mark) {
    Node node = make_scalar(Kind::list, "", std::move(mark));
    node.items = std::move(items);
    return node;
}

Node make_map(std::vector<Entry> entries, Mark mark) {
    Node node = make_scalar(Kind::map, "", std::move(mark));
    node.entries = std::move(entries);
    return node;
}

Node make_plain(std::string text, Mark mark) {
    if (text == "true" || text == "True" || text == "TRUE") return make_boolean(true, std::move(mark));
    if (text == "false" || text == "False" || text == "FALSE") return make_boolean(false, std::move(mark));
    if (!looks_like_number(text)) return make_text(std::move(text), std::move(mark));
    std::int64_t whole = 0;
    if (read_whole(text, whole)) return make_integer(whole, std::move(mark));
    double number = 0;
    if (!read_whole(text, number)) return make_text(std::move(text), std::move(mark));
    if (is_whole_exponent(text, number))
        return make_integer(static_cast<std::int64_t>(number), std::move(mark));
    return make_real(number, std::move(text), std::move(mark));
}

std::vector<Node> as_list(const Node& node) {
    if (node.kind == Kind::list) return node.items;
    return {node};
}

std::string shown(const Node& node) {
    constexpr std::size_t longest = 60;
    if (node.kind == Kind::null) return "nothing";
    if (node.kind == Kind::list) return node.items.empty() ? "an empty list" : "a list";
    if (node.kind == Kind::map) return "a map";
    if (node.text.size() <= longest) return "`" + node.text + "`";
    return "a text of " + std::to_string(node.text.size()) + " bytes";
}

}  // namespace ringscope::config
