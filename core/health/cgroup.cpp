// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/cgroup.hpp"

#include <sstream>

namespace ringscope::health {
namespace {

/// "/x" of the line "4:memory:/x" of /proc/self/cgroup.
std::string folder_of(const Sources& sources, std::string_view controller) {
    std::istringstream stream{whole(sources, "/proc/self/cgroup").value_or("")};
    const std::string wanted = "," + std::string{controller} + ",";
    std::string hierarchy, controllers, folder;
    while (std::getline(stream, hierarchy, ':') && std::getline(stream, controllers, ':') &&
           std::getline(stream, folder)) {
        if (("," + controllers + ",").find(wanted) != std::string::npos) return folder;
    }
    return "/";
}

}  // namespace

Text cgroup_file(const Sources& sources, std::string_view controller, std::string_view file) {
    std::string top = "/sys/fs/cgroup";
    if (!controller.empty()) top += "/" + std::string{controller};
    const std::string name = "/" + std::string{file}, folder = folder_of(sources, controller);
    const Text own = folder == "/" ? std::nullopt : whole(sources, top + folder + name);
    return own ? own : whole(sources, top + name);
}

Text cgroup_cpu_limit(const Sources& sources) {
    if (const Text limit = cgroup_file(sources, "", "cpu.max")) return trimmed(*limit);
    const Text quota = cgroup_file(sources, "cpu", "cpu.cfs_quota_us");
    const Text period = cgroup_file(sources, "cpu", "cpu.cfs_period_us");
    if (!quota || !period) return std::nullopt;
    const std::string most = trimmed(*quota);
    return (most == "-1" ? "max" : most) + " " + trimmed(*period);
}

}  // namespace ringscope::health
