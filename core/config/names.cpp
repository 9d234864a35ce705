// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/text.hpp"

namespace ringscope::config {
namespace {

constexpr std::array<std::string_view, 10> planned_algorithms{
    "ring-ll128",     "tree-ll",  "tree-simple", "parameter-server", "ipc-pcie",
    "ipc-pcie-naive", "one-shot", "two-shot",    "halving-doubling", "hierarchical"};
constexpr std::array<std::string_view, 4> planned_engines{
    "cuda-staged", "cuda-host-driven", "nccl", "simgrid"};

/// The schema knows which parameters there are; these are NCCL's alone.
constexpr std::array<std::string_view, 5> nccl_params{"algo", "proto", "window", "min_ctas", "max_ctas"};

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

/// The parameters of an algorithm that have a meaning for NCCL alone.
std::vector<Fault> misplaced_params(const Node& algorithm) {
    std::vector<Fault> faults;
    const Node* params = algorithm.find("params");
    if (!params || id_of(algorithm).text == "nccl") return faults;
    for (const Entry& entry : params->entries) {
        if (!contains(nccl_params, entry.key)) continue;
        faults.push_back(
            {entry.mark, "`" + entry.key + "` is a parameter of `nccl` alone; `" + id_of(algorithm).text +
                             "` takes `channels`, `slots`, `slot_bytes`, `threads`"}
        );
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
        std::ranges::move(misplaced_params(algorithm), std::back_inserter(faults));
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
