// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/statvfs.h>

#include <charconv>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "doctor/system.hpp"
#include "environment/cpu_list.hpp"
#include "health/cgroup.hpp"

namespace ringscope::doctor {
namespace {

using health::Sources;
using health::Text;

/// What stands behind the colon of "model name : x".
std::string value_of(const Sources& sources, const char* file, const char* key) {
    const Text line = health::line_beginning(sources, file, key);
    const std::size_t colon = line ? line->find(':') : std::string::npos;
    return colon == std::string::npos ? "" : health::trimmed(std::string_view{*line}.substr(colon + 1));
}

/// An odd line of the kernel must not end the doctor's visit.
std::vector<int> cpus_in(const std::string& list) {
    try {
        return environment::parse_cpu_list(list);
    } catch (const Error&) {
        return {};
    }
}

std::map<int, std::vector<int>> read_nodes(const Sources& sources) {
    const std::string folder = "/sys/devices/system/node";
    std::map<int, std::vector<int>> nodes;
    for (const std::string& name : health::names_in(sources, folder)) {
        const std::int64_t number = name.starts_with("node") ? health::number_in(name.substr(4)) : -1;
        const Text list = health::first_line(sources, folder + "/" + name + "/cpulist");
        if (number >= 0 && list) nodes[static_cast<int>(number)] = cpus_in(*list);
    }
    return nodes;
}

/// The soft limit of "Max open files            1024                 4096                 files".
std::int64_t limit_of(const Sources& sources, const std::string& name) {
    const Text line = health::line_beginning(sources, "/proc/self/limits", name);
    if (!line) return -1;
    const std::string value = health::trimmed(std::string_view{*line}.substr(name.size()));
    return value.starts_with("unlimited") ? unlimited : health::number_in(value);
}

std::int64_t size_option_of(const std::string& mount) {
    const std::size_t at = mount.find("size=");
    if (at == std::string::npos) return -1;
    const std::string text = mount.substr(at + 5, mount.find_first_of(", ", at) - at - 5);
    const std::int64_t number = health::number_in(text);
    const char unit = text.empty() ? ' ' : text.back();
    if (unit == 'k') return number * 1024;
    if (unit == 'm') return number * 1024 * 1024;
    return unit == 'g' ? number * 1024 * 1024 * 1024 : number;
}

/// What the mount was given; where it says nothing, what the machine says of itself, which a recording keeps
/// as that option.
std::int64_t read_shm_bytes(const Sources& sources) {
    Sources unrecorded = sources;
    unrecorded.recording = nullptr;
    const Text mount = health::last_line_with(unrecorded, "/proc/mounts", " /dev/shm ");
    std::int64_t bytes = mount ? size_option_of(*mount) : -1;
    struct statvfs space {};
    if (bytes < 0 && sources.is_machine() && statvfs("/dev/shm", &space) == 0)
        bytes = static_cast<std::int64_t>(space.f_blocks * space.f_frsize);
    if (sources.recording && bytes >= 0)
        sources.recording->keep_line(
            "/proc/mounts", "tmpfs /dev/shm tmpfs rw,size=" + std::to_string(bytes / 1024) + "k 0 0"
        );
    return bytes;
}

double cpus_of(const Text& limit) {
    if (!limit || limit->starts_with("max")) return -1;
    const std::int64_t quota = health::number_in(*limit);
    const std::size_t blank = limit->find(' ');
    const std::int64_t period = blank == std::string::npos ? -1 : health::number_in(limit->substr(blank + 1));
    return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period) : -1;
}

std::int64_t read_throttled_periods(const Sources& sources) {
    Text text = health::cgroup_file(sources, "", "cpu.stat");
    if (!text || text->find("nr_throttled") == std::string::npos)
        text = health::cgroup_file(sources, "cpu", "cpu.stat");
    constexpr std::string_view name = "nr_throttled ";
    const std::size_t at = text ? text->find(name) : std::string::npos;
    return at == std::string::npos ? -1 : health::number_in(text->substr(at + name.size()));
}

/// The word in brackets of "default performance [powersave] powersupersave".
std::string chosen_in(const Text& line) {
    const std::size_t open = line ? line->find('[') : std::string::npos;
    return open == std::string::npos ? "" : line->substr(open + 1, line->find(']', open) - open - 1);
}

std::optional<bool> read_virtual_machine(const Sources& sources) {
    const std::string flags = value_of(sources, "/proc/cpuinfo", "flags");
    if (flags.empty()) return std::nullopt;
    return (" " + flags + " ").find(" hypervisor ") != std::string::npos;
}

std::int64_t read_memory_bytes(const Sources& sources) {
    const std::int64_t kib = health::number_in(value_of(sources, "/proc/meminfo", "MemTotal"));
    return kib < 0 ? -1 : kib * 1024;
}

std::string read_governor(const Sources& sources, const std::vector<int>& cpus) {
    if (cpus.empty()) return "";
    const std::string cpu = "/sys/devices/system/cpu/cpu" + std::to_string(cpus.front());
    return health::first_line(sources, cpu + "/cpufreq/scaling_governor").value_or("");
}

}  // namespace

Host read_host(const Sources& sources) {
    const auto line = [&](const char* path) { return health::first_line(sources, path); };
    Host host;
    host.cpu_model = value_of(sources, "/proc/cpuinfo", "model name");
    host.kernel = line("/proc/sys/kernel/osrelease").value_or("");
    host.driver = line("/sys/module/nvidia/version").value_or("");
    host.nccl = line("/nccl.version").value_or("");
    host.cpus = cpus_in(value_of(sources, "/proc/self/status", "Cpus_allowed_list"));
    host.nodes = read_nodes(sources);
    host.virtual_machine = read_virtual_machine(sources);
    host.memory_bytes = read_memory_bytes(sources);
    host.shm_bytes = read_shm_bytes(sources);
    host.memlock_bytes = limit_of(sources, "Max locked memory");
    host.open_files = limit_of(sources, "Max open files");
    host.cpu_quota = cpus_of(health::cgroup_cpu_limit(sources));
    host.throttled_periods = read_throttled_periods(sources);
    host.infiniband = !health::names_in(sources, "/sys/class/infiniband").empty();
    host.aspm_policy = chosen_in(line("/sys/module/pcie_aspm/parameters/policy"));
    host.governor = read_governor(sources, host.cpus);
    host.clocksource = line("/sys/devices/system/clocksource/clocksource0/current_clocksource").value_or("");
    return host;
}

System read_system(const Sources& sources) {
    return {
        .host = read_host(sources),
        .pci = health::PciTree::read(sources),
        .gpus = health::read_gpus(sources),
        .log = health::read_kernel_log(sources)};
}

}  // namespace ringscope::doctor
