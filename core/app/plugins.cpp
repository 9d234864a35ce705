// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "app/commands.hpp"
#include "baseline/mpi.hpp"

namespace ringscope::app {
namespace {

std::vector<OptionWord> options_of(const ringscope_algorithm& algorithm) {
    std::vector<OptionWord> words;
    for (std::int32_t i = 0; i < algorithm.option_count; ++i) {
        const ringscope_option& option = algorithm.options[i];
        words.push_back({option.name, option.least, option.most});
    }
    return words;
}

}  // namespace

std::vector<std::string> protocols_of(const ringscope_algorithm& algorithm) {
    std::vector<std::string> names;
    for (std::int32_t i = 0; i < RINGSCOPE_PROTOCOL_COUNT; ++i) {
        if (i == algorithm.protocol || (algorithm.protocols >> i & 1u) != 0)
            names.emplace_back(name_of(static_cast<Protocol>(i)));
    }
    return names;
}

plugin::PluginRegistry find_plugins(const options::Options& options) {
    std::vector<std::string> folders =
        options::plugin_path(options, [](const char* name) { return std::getenv(name); });
    folders.push_back(plugin::default_plugin_folder());
    return plugin::PluginRegistry{folders};
}

Vocabulary vocabulary(const plugin::PluginRegistry& registry) {
    Vocabulary words{.algorithms = registry.ids(), .engines = {}};
    for (const engine::Engine& engine : engine::engines()) words.engines.emplace_back(engine.name);
    for (const plugin::Found& found : registry.algorithms())
        words.words[found.algorithm->id] = {options_of(*found.algorithm), protocols_of(*found.algorithm)};
    words.algorithms.emplace_back(baseline::Mpi::id);
    words.algorithms.emplace_back(nccl_id);
    return words;
}

}  // namespace ringscope::app
