// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/params.hpp"
#include "base/text.hpp"

namespace ringscope::config {
namespace {

constexpr std::array<std::string_view, 1> planned_algorithms{"hierarchical"};
constexpr std::array<std::string_view, 3> planned_engines{"nccl", "mpi", "simgrid"};

bool contains(const auto& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

std::string known_here(const std::vector<std::string>& words) {
    return words.empty() ? "; none was found" : "; known here: `" + join(words, "`, `") + "`";
}

std::string unknown(
    const char* what, const std::string& word, const std::vector<std::string>& known, bool planned
) {
    if (planned) return std::string{what} + " `" + word + "` is not in this version" + known_here(known);
    const std::string hint = did_you_mean(word, known);
    return std::string{"unknown "} + what + " `" + word + "`" + (hint.empty() ? known_here(known) : hint);
}

const Node& id_of(const Node& algorithm) {
    return algorithm.kind == Kind::map ? algorithm.at("id") : algorithm;
}

/// The parameters that an algorithm takes.
std::vector<std::string> params_of(const std::string& id, const AlgorithmWords& words) {
    std::vector<std::string> names{common_params.begin(), common_params.end()};
    for (const OptionWord& option : words.options) names.push_back(option.name);
    if (id == "nccl") names.insert(names.end(), nccl_params.begin(), nccl_params.end());
    return names;
}

std::string fault_of_name(const std::string& id, const std::string& name, const AlgorithmWords& words) {
    const std::vector<std::string> known = params_of(id, words);
    if (contains(known, name)) return "";
    if (contains(nccl_params, name))
        return "`" + name + "` is a parameter of `nccl` alone; `" + id + "` takes `" + join(known, "`, `") +
               "`";
    return unknown("key", name, known, false);
}

std::string fault_of_value(const std::string& id, const Entry& param, const AlgorithmWords& words) {
    if (param.key == "protocol" && !contains(words.protocols, param.value.text)) {
        return "`" + id + "` cannot be played with protocol `" + param.value.text + "`" +
               (words.protocols.empty() ? "" : ", it can with `" + join(words.protocols, "`, `") + "`");
    }
    const auto option = std::ranges::find(words.options, param.key, &OptionWord::name);
    if (option == words.options.end()) return "";
    const std::int64_t value = param.value.kind == Kind::boolean ? param.value.boolean : param.value.integer;
    const bool is_number = param.value.kind != Kind::text;
    if (is_number && value >= option->least && value <= option->most) return "";
    return "`" + param.key + "` of `" + id + "` must be from " + std::to_string(option->least) + " to " +
           std::to_string(option->most) + ", found " + shown(param.value);
}

/// The parameters that an algorithm does not take, or not with this value.
std::vector<Fault> wrong_params(const Node& algorithm, const Vocabulary& vocabulary) {
    std::vector<Fault> faults;
    const Node* params = algorithm.find("params");
    if (!params) return faults;
    const std::string& id = id_of(algorithm).text;
    const auto found = vocabulary.words.find(id);
    const AlgorithmWords words = found == vocabulary.words.end() ? AlgorithmWords{} : found->second;
    for (const Entry& param : params->entries) {
        if (const std::string fault = fault_of_name(id, param.key, words); !fault.empty()) {
            faults.push_back({param.mark, fault});
        } else if (const std::string wrong = fault_of_value(id, param, words); !wrong.empty()) {
            faults.push_back({param.value.mark, wrong});
        }
    }
    return faults;
}

}  // namespace

std::vector<Fault> unknown_names(const Node& document, const Vocabulary& vocabulary) {
    std::vector<std::string> engines = vocabulary.engines;
    if (!contains(engines, "auto")) engines.insert(engines.begin(), "auto");
    std::vector<Fault> faults;
    const auto check = [&](const char* what, const Node& name, const auto& known, const auto& planned) {
        if (contains(known, name.text)) return;
        faults.push_back({name.mark, unknown(what, name.text, known, contains(planned, name.text))});
    };
    const Node& sweep = document.at("sweep");
    for (const Node& algorithm : sweep.at("algorithms").items) {
        check("algorithm", id_of(algorithm), vocabulary.algorithms, planned_algorithms);
        std::ranges::move(wrong_params(algorithm, vocabulary), std::back_inserter(faults));
    }
    for (const Node& engine : sweep.at("engines").items) check("engine", engine, engines, planned_engines);
    return faults;
}

}  // namespace ringscope::config

namespace ringscope {

std::string unknown_algorithm(const std::string& word, const Vocabulary& vocabulary) {
    return config::unknown(
        "algorithm", word, vocabulary.algorithms, config::contains(config::planned_algorithms, word)
    );
}

}  // namespace ringscope
