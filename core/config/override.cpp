// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/override.hpp"

#include <charconv>
#include <utility>
#include <vector>

#include "config/yaml.hpp"

namespace ringscope::config {
namespace {

constexpr std::size_t longest_path = 16;

std::vector<std::string> split(const std::string& path) {
    std::vector<std::string> elements(1);
    for (const char c : path) {
        if (c == '.') {
            elements.emplace_back();
        } else {
            elements.back() += c;
        }
    }
    return elements;
}

std::vector<std::string> path_elements(const Override& setting) {
    auto elements = split(setting.path);
    for (const std::string& element : elements) {
        if (element.empty()) fail({setting.source}, "an element of the path is empty: write key.path=value");
    }
    if (elements.size() > longest_path) fail({setting.source}, "the path has more than 16 elements");
    return elements;
}

Node& list_item(Node& list, const std::string& element, const Mark& mark) {
    std::size_t index = 0;
    const char* const end = element.data() + element.size();
    const auto [read_to, error] = std::from_chars(element.data(), end, index);
    if (error == std::errc{} && read_to == end && index < list.items.size()) return list.items[index];
    fail(
        mark,
        "`" + element + "` is no index of a list of " + std::to_string(list.items.size()) + ", counted from 0"
    );
}

Node& map_value(Node& map, const std::string& element, const Mark& mark) {
    if (Node* found = map.find(element)) return *found;
    map.entries.push_back({element, mark, make_null(mark)});
    return map.entries.back().value;
}

Node& child(Node& parent, const std::string& element, const Mark& mark) {
    if (parent.kind == Kind::null) parent = make_map({}, mark);
    if (parent.kind == Kind::list) return list_item(parent, element, mark);
    if (parent.kind == Kind::map) return map_value(parent, element, mark);
    fail(mark, "nothing can be set inside of the single value " + shown(parent));
}

}  // namespace

Override parse_override(const std::string& word) {
    const std::string source = "--set " + word;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) fail({source}, "must be key.path=value");
    return {word.substr(0, equals), word.substr(equals + 1), source};
}

void apply_override(Node& root, const Override& setting) {
    const Mark mark{setting.source};
    Node* node = &root;
    for (const std::string& element : path_elements(setting)) node = &child(*node, element, mark);
    *node = parse_yaml_value(setting.value, setting.source);
}

}  // namespace ringscope::config
