// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/binding.hpp"

#include <algorithm>
#include <map>

#include "environment/cpu_list.hpp"
#include "environment/sources.hpp"

namespace ringscope::environment {
namespace {

/// The file of the kernel that lists the CPUs which share a core, or a socket, with this one.
Text neighbours(std::string_view asked, int cpu, const Sources& sources) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const char* file = asked == "core" ? "thread_siblings_list" : "core_siblings_list";
    return first_line(below(sources.root, folder + file));
}

/// A kernel without NUMA has no such folder: then the whole machine is one node.
Text numa_node(int cpu, const Sources& sources) {
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator{below(sources.root, "/sys/devices/system/node"), ignored}) {
        const Text list = first_line(entry.path() / "cpulist");
        if (!entry.path().filename().string().starts_with("node") || !list) continue;
        if (std::ranges::binary_search(parse_cpu_list(*list), cpu)) return list;
    }
    return "0-65535";
}

Text allowed(std::string_view asked, int cpu, const Sources& sources) {
    if (asked == "hwthread") return std::to_string(cpu);
    return asked == "numa" ? numa_node(cpu, sources) : neighbours(asked, cpu, sources);
}

bool is_checked(std::string_view asked) {
    return asked == "hwthread" || asked == "core" || asked == "numa" || asked == "socket" ||
           asked == "package";
}

}  // namespace

std::string binding_fault(std::string_view asked, std::span<const int> cpus, const Sources& sources) {
    if (!is_checked(asked) || cpus.empty()) return "";
    const Text most = allowed(asked, cpus.front(), sources);
    if (!most) return "the kernel does not tell the neighbours of CPU " + std::to_string(cpus.front());
    if (std::ranges::includes(parse_cpu_list(*most), cpus)) return "";
    return "may use CPUs " + format_cpu_list(cpus) + ", which is more than one " + std::string{asked};
}

std::string unbound_fault(const std::vector<trace::RankEnvironment>& ranks) {
    std::map<std::string, const trace::RankEnvironment*> first_of_host;
    for (const trace::RankEnvironment& rank : ranks) {
        const trace::RankEnvironment& first = *first_of_host.try_emplace(rank.boot_id, &rank).first->second;
        if (rank.cpuset == first.cpuset) continue;
        return "is bound: rank " + std::to_string(first.rank) + " may use CPUs " + first.cpuset + ", rank " +
               std::to_string(rank.rank) + " CPUs " + rank.cpuset;
    }
    return "";
}

}  // namespace ringscope::environment
