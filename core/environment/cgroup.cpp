// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/cgroup.hpp"

#include <fstream>
#include <system_error>

namespace ringscope::environment {

namespace fs = std::filesystem;

std::string cgroup_of(const fs::path& root, const std::string& controller) {
    std::ifstream stream{below(root, "/proc/self/cgroup")};
    std::string hierarchy, controllers, folder;
    while (std::getline(stream, hierarchy, ':') && std::getline(stream, controllers, ':') &&
           std::getline(stream, folder)) {
        if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) return folder;
    }
    return "/";
}

Text cgroup_line(const fs::path& root, const std::string& controller, const std::string& file) {
    const fs::path top = below(root, "/sys/fs/cgroup") / controller;
    const Text own = first_line(below(top, cgroup_of(root, controller)) / file);
    return own ? own : first_line(top / file);
}

std::vector<fs::path> cgroup_files(
    const fs::path& root, const std::string& controller, const std::string& file
) {
    std::vector<fs::path> files;
    std::error_code ignored;
    fs::path folder = below(root, "/sys/fs/cgroup") / controller;
    const auto add = [&] {
        if (fs::exists(folder / file, ignored)) files.push_back(folder / file);
    };
    add();
    for (const fs::path& part : fs::path{cgroup_of(root, controller)}.relative_path()) {
        folder /= part;
        add();
    }
    return files;
}

}  // namespace ringscope::environment
