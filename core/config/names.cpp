// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"

namespace ringscope::config {
namespace {

constexpr std::array<std::string_view, 11> planned_algorithms{
    "ring-ll128", "tree-ll",  "tree-simple",      "parameter-server", "ipc-pcie", "ipc-pcie-naive",
    "one-shot",   "two-shot", "halving-doubling", "hierarchical",     "nccl"};
constexpr std::array<std::string_view, 5> planned_engines{
    "cuda-p2p", "cuda-staged", "cuda-host-driven", "nccl", "simgrid"};

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
