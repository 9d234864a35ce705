// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "environment/sources.hpp"

/// The control groups of this process, version 1 and 2.
namespace ringscope::environment {

/// The process's folder for a controller: "/x" of the line "4:memory:/x" of /proc/self/cgroup. The controller
/// of the unified hierarchy (version 2) is "".
[[nodiscard]] std::string cgroup_of(const std::filesystem::path& root, const std::string& controller);

/// The first line of a file of that folder, or where a container does not see it, of the top one: while the
/// process's folder bears the name it has on the host, a container may see the top of the hierarchy only.
[[nodiscard]] Text cgroup_line(
    const std::filesystem::path& root, const std::string& controller, const std::string& file
);

/// The files of this name in that folder and in all above it, as far as they are there.
[[nodiscard]] std::vector<std::filesystem::path> cgroup_files(
    const std::filesystem::path& root, const std::string& controller, const std::string& file
);

}  // namespace ringscope::environment
