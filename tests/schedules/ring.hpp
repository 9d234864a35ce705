// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "plugin/registry.hpp"

namespace ringscope::schedules {

/// The ring as users get it: out of the built plugin file.
inline const ringscope_algorithm& ring(const std::string& id) {
    static const plugin::PluginRegistry registry{std::vector<std::string>{RINGSCOPE_PLUGIN_FOLDER}};
    const plugin::Found* found = registry.find(id);
    if (found == nullptr) throw Error{ExitCode::internal, "the built plugins lack " + id};
    return *found->algorithm;
}

}  // namespace ringscope::schedules
