// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "config/schema.hpp"

namespace ringscope::config {
namespace {

using Json =
    nlohmann::ordered_json;  // the schema's order of keys is the order in which an experiment is written

const Mark default_mark{"default"};

Node to_node(const Json& json);

Node to_list(const Json& json) {
    std::vector<Node> items;
    for (const Json& item : json) items.push_back(to_node(item));
    return make_list(std::move(items), default_mark);
}

Node to_map(const Json& json) {
    std::vector<Entry> entries;
    for (const auto& [key, value] : json.items()) entries.push_back({key, default_mark, to_node(value)});
    return make_map(std::move(entries), default_mark);
}

Node to_node(const Json& json) {
    if (json.is_array()) return to_list(json);
    if (json.is_object()) return to_map(json);
    if (json.is_boolean()) return make_boolean(json.get<bool>(), default_mark);
    if (json.is_number_integer()) return make_integer(json.get<std::int64_t>(), default_mark);
    if (json.is_string()) return make_text(json.get<std::string>(), default_mark);
    return make_null(default_mark);
}

/// The section with defaults; values that are no section stay as they are.
Node completed(const Node& node, const Json& schema) {
    if (node.kind != Kind::map || !schema.contains("properties")) return node;
    std::vector<Entry> entries;
    for (const auto& [key, property] : schema["properties"].items()) {
        const Node* given = node.find(key);
        if (!given && !property.contains("default")) continue;
        const Node value = given ? *given : to_node(property["default"]);
        entries.push_back({key, value.mark, completed(value, property)});
    }
    return make_map(std::move(entries), node.mark);
}

}  // namespace

Node with_defaults(const Node& document) {
    return completed(document, Json::parse(schema_text));
}

}  // namespace ringscope::config
