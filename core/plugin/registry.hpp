// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ringscope/abi.h"

namespace ringscope::plugin {

/// An algorithm that a plugin offers.
struct Found {
    const ringscope_algorithm* algorithm = nullptr;
    std::string file;
    std::string plugin;  ///< the plugin's name and version
};

/// A plugin file that was not taken, and why.
struct Refused {
    std::string file, reason;
};

/// The algorithms of all plugins in some folders.
class PluginRegistry {
 public:
    /// Loads every *.so of the folders, in the order of folders and names; the first to bring an id keeps it.
    /// A file that is no plugin, of another ABI version, writable by everybody, or broken is refused with the
    /// reason; a folder that is missing too.
    explicit PluginRegistry(std::span<const std::string> folders);

    [[nodiscard]] const std::vector<Found>& algorithms() const { return algorithms_; }
    [[nodiscard]] const std::vector<Refused>& refused() const { return refused_; }
    [[nodiscard]] std::vector<std::string> ids() const;

    /// The algorithm of this id, or null.
    [[nodiscard]] const Found* find(const std::string& id) const;

 private:
    void load_folder(const std::string& folder);
    void load(const std::string& file);
    void add(const ringscope_plugin& plugin, const std::string& file);

    std::deque<ringscope_algorithm> tables_;  ///< the plugins' own, filled up to this program's size
    std::vector<Found> algorithms_;
    std::vector<Refused> refused_;
    std::set<std::string> seen_;  ///< files, by their canonical names
};

/// Where the plugins of this installation are: ../plugins beside the program's folder bin, or the installed
/// folder.
[[nodiscard]] std::string default_plugin_folder();

}  // namespace ringscope::plugin
