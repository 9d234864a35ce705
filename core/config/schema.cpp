// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/schema.hpp"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

// The only file that sees the validator: its headers are slow to compile.

namespace ringscope::config {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

Json to_json(const Node& node);

Json list_to_json(const Node& list) {
    Json json = Json::array();
    for (const Node& item : list.items) json.push_back(to_json(item));
    return json;
}

Json map_to_json(const Node& map) {
    Json json = Json::object();
    for (const Entry& entry : map.entries) json[entry.key] = to_json(entry.value);
    return json;
}

Json to_json(const Node& node) {
    switch (node.kind) {
        case Kind::null:
            return nullptr;
        case Kind::boolean:
            return node.boolean;
        case Kind::integer:
            return node.integer;
        case Kind::real:
            return node.real;
        case Kind::text:
            return node.text;
        case Kind::list:
            return list_to_json(node);
        case Kind::map:
            return map_to_json(node);
    }
    return nullptr;
}

const valijson::Schema& compiled_schema() {
    static const valijson::Schema* const compiled = [] {
        const Json json = Json::parse(schema_text);
        auto* schema = new valijson::Schema;
        valijson::SchemaParser{}.populateSchema(Adapter{json}, *schema);
        return schema;
    }();
    return *compiled;
}

/// The validator writes a path as "<root>", "[key]", "[3]".
std::vector<std::string> path_of(const std::vector<std::string>& context) {
    std::vector<std::string> path;
    for (std::size_t i = 1; i < context.size(); ++i)
        path.push_back(context[i].substr(1, context[i].size() - 2));
    return path;
}

}  // namespace

std::vector<Violation> schema_violations(const Node& document) {
    const Json json = to_json(document);
    valijson::ValidationResults results;
    valijson::Validator validator{valijson::Validator::kStrongTypes};
    if (validator.validate(compiled_schema(), Adapter{json}, &results)) return {};
    std::vector<Violation> violations;
    for (const auto& error : results) violations.push_back({path_of(error.context), error.description});
    if (violations.empty()) violations.push_back({{}, "is refused by the schema"});
    return violations;
}

}  // namespace ringscope::config
