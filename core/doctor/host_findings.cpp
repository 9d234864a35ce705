// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "doctor/findings.hpp"
#include "environment/cpu_list.hpp"

namespace ringscope::doctor {
namespace {

constexpr std::int64_t MiB = 1024 * 1024;
constexpr std::int64_t docker_shm_bytes = 64 * MiB;
constexpr std::int64_t few_files = 1024;

/// What host-shm needs where every rank is connected to every other, by 8 slots of 64 KiB each (the
/// defaults).
std::int64_t shm_bytes_for(std::int64_t ranks) {
    return ranks * (ranks - 1) * 8 * 64 * 1024;
}

std::vector<Finding> shm_findings(const System& system) {
    const std::int64_t there = system.host.shm_bytes;
    if (there < 0) return {};
    const auto cpus = std::ssize(system.host.cpus);
    const bool for_ranks = there < shm_bytes_for(cpus),
               for_gpus = there <= docker_shm_bytes && system.pci.gpus().size() > 1;
    if (there > docker_shm_bytes && !for_ranks) return {};
    const std::string needed = for_ranks ? fmt::format(
                                               "; {} ranks that all talk to each other take {}", cpus,
                                               format_bytes(shm_bytes_for(cpus))
                                           )
                                         : "";
    return {Finding{
        for_ranks || for_gpus ? Severity::harm : Severity::note, id::shm_small, "/dev/shm",
        "holds " + format_bytes(there) + needed,
        "windows of ranks, of staged GPUs, of MPI and NCCL lie there: a run with many ranks ends with exit "
        "code 5, "
        "and other programs with a bus error",
        "give the container more: --shm-size=8g or --ipc=host"}};
}

std::vector<Finding> quota_findings(const Host& host) {
    const auto cpus = static_cast<double>(host.cpus.size());
    if (host.cpu_quota < 0 || host.cpus.empty() || host.cpu_quota >= cpus - 0.01) return {};
    const std::string stopped = host.throttled_periods < 0
                                    ? ""
                                    : fmt::format(", and it was used up {} times", host.throttled_periods);
    return {Finding{
        Severity::harm, id::cpu_quota, "this container",
        fmt::format(
            "{} CPUs may be used, but for the time of {:g} only{}", host.cpus.size(), host.cpu_quota, stopped
        ),
        "ranks that wait spin; when the quota is used up all of them stand still for tens of milliseconds",
        "give the container whole CPUs (--cpuset-cpus) in place of a quota, or start no more ranks than the "
        "quota has CPUs"}};
}

std::vector<Finding> limit_findings(const Host& host) {
    std::vector<Finding> found;
    if (host.infiniband && host.memlock_bytes >= 0 && host.memlock_bytes != unlimited)
        found.push_back(
            {Severity::harm, id::memlock, "this process",
             "may lock " + format_bytes(host.memlock_bytes) + " of memory, and there is InfiniBand",
             "its cards reach locked memory only: connections fail, or fall back to slow ones",
             "ulimit -l unlimited; in a container --ulimit memlock=-1"}
        );
    if (host.open_files >= 0 && host.open_files < few_files)
        found.push_back(
            {Severity::note, id::open_files, "this process",
             fmt::format("may open {} files", host.open_files),
             "MPI and NCCL open several for each pair of ranks: a run with many ranks may end early",
             "ulimit -n 65536"}
        );
    return found;
}

std::vector<Finding> numa_findings(const System& system) {
    std::vector<Finding> found;
    const std::vector<int>& own = system.host.cpus;
    for (const health::PciDevice* gpu : system.pci.gpus()) {
        const auto node = system.host.nodes.find(gpu->numa_node);
        if (node == system.host.nodes.end() || node->second.empty() || own.empty()) continue;
        const auto is_near = [&](int cpu) { return std::ranges::binary_search(node->second, cpu); };
        if (std::ranges::any_of(own, is_near)) continue;
        found.push_back(
            {Severity::harm, id::numa, gpu->address,
             fmt::format(
                 "is at NUMA node {} with CPUs {}, this process may use CPUs {} only", gpu->numa_node,
                 environment::format_cpu_list(node->second), environment::format_cpu_list(own)
             ),
             "copies, flags and launches cross from socket to socket: more latency, less bandwidth of staged "
             "transfers",
             "bind each rank to the node of its GPU (mpirun --map-by, numactl), or give the container those "
             "CPUs"}
        );
    }
    return found;
}

std::vector<Finding> setting_findings(const Host& host) {
    std::vector<Finding> found;
    constexpr std::array slow_clocks{"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
    if (std::ranges::find(slow_clocks, host.clocksource) != slow_clocks.end())
        found.push_back(
            {Severity::harm, id::clocksource, "this host", "the clock of the kernel is " + host.clocksource,
             "reading it takes a microsecond and more: times of short operations are those of the clock",
             "see why the kernel left tsc (dmesg), boot with tsc=reliable where it is sound"}
        );
    if (host.governor == "powersave")
        found.push_back(
            {Severity::note, id::governor, "this host", "the CPUs' frequency governor is powersave",
             "clocks may begin low: short operations of the host take longer and vary",
             "cpupower frequency-set -g performance"}
        );
    return found;
}

/// A version that is known to be bad, by a public report. Not every machine meets it.
struct BadVersion {
    std::string_view what;
    std::string Host::*where;
    std::string_view beginning;  ///< of the version
    std::string_view effect, advice;
};

constexpr std::array<BadVersion, 2> bad_versions{{
    {"NVIDIA driver", &Host::driver, "560.",
     "NCCL may hang where GPUs reach each other (dmlc/xgboost issue 11242)",
     "take driver 570 or later, or set NCCL_P2P_DISABLE=1"},
    {"NCCL", &Host::nccl, "2.29.2", "it can hang (pytorch/pytorch pull request 174338)",
     "take NCCL 2.29.3 or later"},
}};

std::vector<Finding> version_findings(const System& system) {
    std::vector<Finding> found;
    if (system.pci.gpus().size() < 2) return found;
    for (const BadVersion& bad : bad_versions) {
        const std::string& version = system.host.*bad.where;
        if (!version.starts_with(bad.beginning)) continue;
        found.push_back(
            {Severity::note, id::version, std::string{bad.what}, "is version " + version,
             std::string{bad.effect}, std::string{bad.advice}}
        );
    }
    return found;
}

void append(std::vector<Finding>& all, std::vector<Finding>&& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<Finding> host_findings(const System& system) {
    std::vector<Finding> all = shm_findings(system);
    append(all, quota_findings(system.host));
    append(all, limit_findings(system.host));
    append(all, numa_findings(system));
    append(all, setting_findings(system.host));
    append(all, version_findings(system));
    return all;
}

}  // namespace ringscope::doctor
