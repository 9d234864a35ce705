// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "config/schema.hpp"

// The validator says which values are refused. The schema itself, read along the path of such a value, says
// why: its `title` completes "must be ...", its keys and enums give the nearest right word.

namespace ringscope::config {
namespace {

using Json = nlohmann::json;
using Path = std::vector<std::string>;

const Json& schema_root() {
    static const Json* const root = new Json(Json::parse(schema_text));
    return *root;
}

const Json& resolved(const Json& schema) {
    if (!schema.contains("$ref")) return schema;
    const auto pointer = schema["$ref"].get<std::string>().substr(1);
    return resolved(schema_root().at(Json::json_pointer{pointer}));
}

bool names_kind(const std::string& type, Kind kind) {
    switch (kind) {
        case Kind::null:
            return type == "null";
        case Kind::boolean:
            return type == "boolean";
        case Kind::integer:
            return type == "integer" || type == "number";
        case Kind::real:
            return type == "number";
        case Kind::text:
            return type == "string";
        case Kind::list:
            return type == "array";
        case Kind::map:
            return type == "object";
    }
    return false;
}

bool accepts_kind(const Json& unresolved, Kind kind) {
    const Json& schema = resolved(unresolved);
    const auto accepts = [&](const Json& other) { return accepts_kind(other, kind); };
    if (schema.contains("anyOf")) return std::ranges::any_of(schema["anyOf"], accepts);
    if (!schema.contains("type")) return true;
    const Json& type = schema["type"];
    if (type.is_string()) return names_kind(type, kind);
    return std::ranges::any_of(type, [&](const Json& name) { return names_kind(name, kind); });
}

/// The schema that a value of this kind has to meet: of alternatives, the one for its kind.
const Json& schema_for(const Json& unresolved, Kind kind) {
    const Json& schema = resolved(unresolved);
    if (!schema.contains("anyOf")) return schema;
    for (const Json& alternative : schema["anyOf"]) {
        if (accepts_kind(alternative, kind)) return schema_for(alternative, kind);
    }
    return schema;
}

/// A value, the schema it has to meet, and the path to both.
struct Place {
    const Node* node;
    const Json* schema;
    Path path;
};

std::optional<std::size_t> index_of(const std::string& element) {
    std::size_t index = 0;
    const char* const end = element.data() + element.size();
    const auto result = std::from_chars(element.data(), end, index);
    if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return index;
}

const Node* child_node(const Node& node, const std::string& element) {
    if (node.kind == Kind::map) return node.find(element);
    const auto index = index_of(element);
    return index && *index < node.items.size() ? &node.items[*index] : nullptr;
}

bool takes_other_keys(const Json& schema) {
    return schema.contains("additionalProperties") && schema["additionalProperties"].is_object();
}

const Json* child_schema(const Json& unresolved, const Node& node, const std::string& element) {
    const Json& schema = schema_for(unresolved, node.kind);
    if (node.kind == Kind::list) return schema.contains("items") ? &schema["items"] : nullptr;
    if (schema.contains("properties") && schema["properties"].contains(element)) {
        return &schema["properties"][element];
    }
    const auto patterns = schema.find("patternProperties");
    if (patterns != schema.end()) return &patterns->front();
    return takes_other_keys(schema) ? &schema["additionalProperties"] : nullptr;
}

std::optional<Place> find_place(const Node& document, const Path& path) {
    Place place{&document, &schema_root(), path};
    for (const std::string& element : path) {
        place.schema = child_schema(*place.schema, *place.node, element);
        place.node = child_node(*place.node, element);
        if (!place.schema || !place.node) return std::nullopt;
    }
    return place;
}

std::vector<std::string> keys_of(const Json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
}

std::string one_of(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "`" : ", `") + word + "`";
    return text;
}

std::string unknown(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
    const std::string hint = did_you_mean(word, known);
    return "unknown " + what + " `" + word + "`" + (hint.empty() ? "; known here: " + one_of(known) : hint);
}

std::vector<Fault> unknown_keys(const Node& map, const Json& schema) {
    std::vector<Fault> faults;
    if (!schema.contains("properties") || takes_other_keys(schema)) return faults;
    const auto known = keys_of(schema["properties"]);
    for (const Entry& entry : map.entries) {
        if (std::ranges::find(known, entry.key) != known.end()) continue;
        faults.push_back({entry.mark, unknown("key", entry.key, known)});
    }
    return faults;
}

std::vector<Fault> missing_keys(const Node& map, const Json& schema) {
    std::vector<Fault> faults;
    for (const auto& key : schema.value("required", std::vector<std::string>{})) {
        if (!map.find(key)) faults.push_back({map.mark, "missing key `" + key + "`"});
    }
    return faults;
}

std::string title_of(const Json& unresolved) {
    if (unresolved.contains("title")) return unresolved["title"];
    return resolved(unresolved).value("title", "what the schema says");
}

Fault must_be(const Place& place, const Json& schema) {
    const std::string name = place.path.empty() ? "the document" : "`" + join(place.path, ".") + "`";
    return {place.node->mark, name + " must be " + title_of(schema) + ", found " + shown(*place.node)};
}

/// A single value: of a set of words, the nearest one; else what it must be.
Fault explain_single(const Place& place, const Json& schema) {
    const bool words = schema.contains("enum") && schema["enum"].front().is_string();
    if (!words || place.node->kind != Kind::text) return must_be(place, *place.schema);
    return {
        place.node->mark, unknown("value", place.node->text, schema["enum"].get<std::vector<std::string>>())};
}

std::vector<Fault> explain_place(const Place& place, bool innermost) {
    const Kind kind = place.node->kind;
    if (!accepts_kind(*place.schema, kind)) return {must_be(place, *place.schema)};
    const Json& schema = schema_for(*place.schema, kind);
    if (kind == Kind::map) {
        if (auto faults = unknown_keys(*place.node, schema); !faults.empty()) return faults;
        if (auto faults = missing_keys(*place.node, schema); !faults.empty()) return faults;
    }
    if (kind != Kind::map && kind != Kind::list) return {explain_single(place, schema)};
    if (!innermost) return {};
    return {must_be(place, schema.contains("title") ? schema : *place.schema)};
}

bool is_prefix(const Path& shorter, const Path& longer) {
    return shorter.size() < longer.size() && std::equal(shorter.begin(), shorter.end(), longer.begin());
}

void sort_by_place(std::vector<Fault>& faults) {
    std::ranges::stable_sort(faults, {}, [](const Fault& fault) {
        return std::tuple{fault.mark.line, fault.mark.column};
    });
}

/// The last resort: the validator's own words for the innermost value.
Fault in_the_validators_words(const Node& document, const std::vector<Violation>& violations) {
    const auto innermost =
        std::ranges::max_element(violations, {}, [](const Violation& v) { return v.path.size(); });
    const auto place = find_place(document, innermost->path);
    return {place ? place->node->mark : document.mark, join(innermost->path, ".") + ": " + innermost->what};
}

}  // namespace

std::vector<Fault> explain(const Node& document, const std::vector<Violation>& violations) {
    std::set<Path> paths;
    for (const Violation& violation : violations) paths.insert(violation.path);
    std::vector<Fault> faults;
    for (auto path = paths.begin(); path != paths.end(); ++path) {
        const auto place = find_place(document, *path);
        if (!place) continue;
        // In the order of the set, what lies inside of a path follows it directly.
        const bool innermost = std::next(path) == paths.end() || !is_prefix(*path, *std::next(path));
        std::ranges::move(explain_place(*place, innermost), std::back_inserter(faults));
    }
    if (faults.empty() && !violations.empty())
        faults.push_back(in_the_validators_words(document, violations));
    sort_by_place(faults);
    return faults;
}

}  // namespace ringscope::config
