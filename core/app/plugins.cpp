// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "app/commands.hpp"
#include "baseline/mpi.hpp"
#include "engine/host/engine.hpp"

namespace ringscope::app {

plugin::PluginRegistry find_plugins(const options::Options& options) {
    std::vector<std::string> folders =
        options::plugin_path(options, [](const char* name) { return std::getenv(name); });
    folders.push_back(plugin::default_plugin_folder());
    return plugin::PluginRegistry{folders};
}

Vocabulary vocabulary(const plugin::PluginRegistry& registry) {
    Vocabulary words{.algorithms = registry.ids(), .engines = {engine::host::HostEngine::name, cuda_engine}};
    words.algorithms.emplace_back(baseline::Mpi::id);
    words.algorithms.emplace_back(nccl_id);
    return words;
}

}  // namespace ringscope::app
