// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace ringscope::bench {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t kernel_available() {
    std::ifstream meminfo{"/proc/meminfo"};
    std::string name, unit;
    for (std::int64_t kib = 0; meminfo >> name >> kib; std::getline(meminfo, unit)) {
        if (name == "MemAvailable:") return kib * 1024;
    }
    return unlimited;
}

/// A number in a file; unlimited for "max" or no such file.
std::int64_t number_in(const std::string& path) {
    std::ifstream file{path};
    std::int64_t number = 0;
    return file >> number ? number : unlimited;
}

std::int64_t group_available() {
    const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max");
    const std::int64_t used = number_in("/sys/fs/cgroup/memory.current");
    return limit == unlimited || used == unlimited ? unlimited : std::max<std::int64_t>(0, limit - used);
}

}  // namespace

std::int64_t available_memory() {
    return std::min(kernel_available(), group_available());
}

}  // namespace ringscope::bench
