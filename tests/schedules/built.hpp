// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "plugin/registry.hpp"

namespace ringscope::schedules {

/// An algorithm as users get it: out of the built plugin files. "two-shot/ll" is two-shot with protocol LL.
inline const ringscope_algorithm& built(const std::string& id) {
    static const plugin::PluginRegistry registry{std::vector<std::string>{RINGSCOPE_PLUGIN_FOLDER}};
    static std::map<std::string, ringscope_algorithm> algorithms;
    static std::mutex mutex;
    const std::lock_guard lock{mutex};
    const auto slash = id.find('/');
    const auto [known, is_new] = algorithms.try_emplace(id);
    if (!is_new) return known->second;
    const plugin::Found* found = registry.find(id.substr(0, slash));
    if (found == nullptr) throw Error{ExitCode::internal, "the built plugins lack " + id};
    known->second = *found->algorithm;
    if (slash != std::string::npos)
        known->second.protocol = static_cast<std::int32_t>(*protocol(id.substr(slash + 1)));
    return known->second;
}

/// Every schedule, with a protocol that moves whole slices.
inline const std::vector<std::string> all{"ring-simple",      "tree-simple",   "parameter-server",
                                          "halving-doubling", "two-shot",      "one-shot/simple",
                                          "ipc-pcie",         "ipc-pcie-naive"};

/// The same with flags in the data.
inline const std::vector<std::string> all_low_latency{
    "ring-ll",     "tree-ll",  "parameter-server/ll", "halving-doubling/ll",
    "two-shot/ll", "one-shot", "ipc-pcie/ll",         "ipc-pcie-naive/ll"};

}  // namespace ringscope::schedules
