// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "conform/variant.hpp"
#include "engine/host/engine.hpp"
#include "plugin/registry.hpp"

namespace ringscope::conform {

/// An algorithm of this build's plugins, or one of the mutants.
inline const ringscope_algorithm& algorithm_named(const std::string& id) {
    static const plugin::PluginRegistry registry{
        std::vector<std::string>{RINGSCOPE_PLUGIN_FOLDER, RINGSCOPE_MUTANTS}};
    const plugin::Found* found = registry.find(id);
    if (found == nullptr) throw std::runtime_error{"no algorithm " + id};
    return *found->algorithm;
}

inline std::vector<Variant> host_variants(const std::string& id) {
    return variants_of(algorithm_named(id), engine::host::HostEngine::format);
}

}  // namespace ringscope::conform
