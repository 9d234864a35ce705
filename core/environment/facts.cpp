// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "build_info.hpp"
#include "environment/cpu_list.hpp"
#include "environment/environment.hpp"
#include "environment/sources.hpp"
#include "health/cgroup.hpp"

namespace ringscope::environment {
namespace {

using Facts = std::vector<trace::Fact>;
using Path = std::filesystem::path;

constexpr std::array<std::string_view, 6> recorded_prefixes{"NCCL_", "OMPI_",      "UCX_",
                                                            "CUDA_", "RINGSCOPE_", "OMP_"};

// Slurm's other variables hold users, accounts and credentials.
constexpr std::array<std::string_view, 15> recorded_names{
    "SLURM_JOB_ID",          "SLURM_JOB_NUM_NODES", "SLURM_NNODES",       "SLURM_NTASKS",
    "SLURM_NTASKS_PER_NODE", "SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "SLURM_GPUS_ON_NODE",
    "SLURM_JOB_PARTITION",   "SLURM_JOB_NODELIST",  "SLURM_NODEID",       "SLURM_PROCID",
    "SLURM_LOCALID",         "SLURM_CPU_BIND",      "SLURM_DISTRIBUTION"};

// The last is Open MPI's key by which the transports of one job know each other.
constexpr std::array<std::string_view, 6> secret_words{"KEY",  "TOKEN", "SECRET",
                                                       "PASS", "CRED",  "PRECONDITION_TRANSPORTS"};

bool is_secret(std::string name) {
    if (name == "NCCL_IB_PKEY") return false;  // the index of an InfiniBand partition
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::toupper(letter); });
    return std::ranges::any_of(secret_words, [&](auto word) { return name.find(word) != std::string::npos; });
}

/// What Open MPI's launcher tells its ranks: addresses, session folders and the command line, but no setting.
bool is_bookkeeping(std::string_view name) {
    constexpr std::array<std::string_view, 10> beginnings{
        "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_initial_wdir", "OMPI_MCA_pmix", "OMPI_MCA_plm",
        "OMPI_MCA_shmem", "OMPI_ARGV",    "OMPI_COMMAND",          "OMPI_FILE_",    "OMPI_APP_CTX_",
    };
    return std::ranges::any_of(beginnings, [&](auto beginning) { return name.starts_with(beginning); });
}

bool is_recorded(const std::string& name) {
    const bool known = std::ranges::find(recorded_names, name) != recorded_names.end();
    const bool prefixed =
        std::ranges::any_of(recorded_prefixes, [&](auto prefix) { return name.starts_with(prefix); });
    return (known || prefixed) && !is_secret(name) && !is_bookkeeping(name);
}

trace::Fact fact(std::string name, const Text& value) {
    return {std::move(name), value && !value->empty() ? *value : std::string{unavailable}};
}

Facts build_facts() {
    return {
        fact("ringscope.version", build_info::version), fact("ringscope.revision", build_info::revision),
        fact("build.compiler", build_info::compiler),   fact("build.flags", build_info::flags),
        fact("build.type", build_info::type),           {"build.sanitizer", build_info::sanitizer},
        {"build.cuda", has_cuda() ? "on" : "off"},
    };
}

Facts machine_facts(const Path& root) {
    const auto line = [&](std::string name, std::string_view path) {
        return fact(std::move(name), first_line(below(root, path)));
    };
    return {
        line("kernel.release", "/proc/sys/kernel/osrelease"),
        line("kernel.version", "/proc/sys/kernel/version"),
        fact("os", value_of(below(root, "/etc/os-release"), "PRETTY_NAME", '=')),
        fact("cpu.model", value_of(below(root, "/proc/cpuinfo"), "model name", ':')),
        line("cpu.online", "/sys/devices/system/cpu/online"),
        line("cpu.smt", "/sys/devices/system/cpu/smt/active"),
        line("cpu.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        line("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        line("numa.online", "/sys/devices/system/node/online"),
        line("memory.huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
        fact("memory.total", value_of(below(root, "/proc/meminfo"), "MemTotal", ':')),
        line("load.average", "/proc/loadavg"),
        line("nvidia.driver", "/sys/module/nvidia/version"),
    };
}

Facts process_facts() {
    const std::vector<int> cpus = allowed_cpu_list();
    return {{"cpu.allowed", format_cpu_list(cpus)}, {"cpu.allowed_count", std::to_string(cpus.size())}};
}

Text first_word(const Text& text) {
    return text ? Text{text->substr(0, text->find_first_of(" \n"))} : std::nullopt;
}

Text memory_limit(const health::Sources& sources) {
    const Text limit = health::cgroup_file(sources, "", "memory.max");
    return first_word(limit ? limit : health::cgroup_file(sources, "memory", "memory.limit_in_bytes"));
}

Facts limit_facts(const Path& root) {
    const health::Sources sources{.root = root};
    const auto limit = [&](std::string name, std::string_view key) {
        return fact(std::move(name), first_word(value_of(below(root, "/proc/self/limits"), key, ' ')));
    };
    return {
        fact("cgroup.cpu.max", health::cgroup_cpu_limit(sources)),
        fact("cgroup.memory.max", memory_limit(sources)),
        limit("limit.memlock", "Max locked memory"),
        limit("limit.nofile", "Max open files"),
        limit("limit.nproc", "Max processes"),
    };
}

Facts shared_memory_facts(const Path& root) {
    struct statvfs space {};
    if (statvfs(below(root, "/dev/shm").c_str(), &space) != 0) {
        return {fact("shm.bytes", std::nullopt), fact("shm.free_bytes", std::nullopt)};
    }
    return {
        {"shm.bytes", std::to_string(space.f_blocks * space.f_frsize)},
        {"shm.free_bytes", std::to_string(space.f_bavail * space.f_frsize)},
    };
}

Text cuda_version(int code) {
    if (code <= 0) return std::nullopt;
    return std::to_string(code / 1000) + "." + std::to_string(code % 1000 / 10);
}

void append(Facts& all, Facts&& more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::vector<trace::Fact> recorded_variables(const std::vector<std::string>& variables) {
    Facts facts;
    for (const std::string& variable : variables) {
        const std::size_t equals = variable.find('=');
        const std::string name = variable.substr(0, equals);
        if (equals != std::string::npos && is_recorded(name))
            facts.push_back({"env." + name, variable.substr(equals + 1)});
    }
    std::ranges::sort(facts, {}, &trace::Fact::name);
    return facts;
}

std::vector<trace::Fact> capture_facts(const Sources& sources) {
    Facts facts = build_facts();
    append(facts, machine_facts(sources.root));
    append(facts, process_facts());
    append(facts, limit_facts(sources.root));
    append(facts, shared_memory_facts(sources.root));
    append(facts, recorded_variables(sources.variables));
    return facts;
}

std::vector<trace::Fact> gpu_facts(const GpuVersions& versions) {
    return {
        fact("cuda.driver", cuda_version(versions.cuda_driver)),
        fact("cuda.runtime", cuda_version(versions.cuda_runtime)),
        fact("nccl.version", versions.nccl),
    };
}

bool has_cuda() noexcept {
    return RINGSCOPE_WITH_CUDA != 0;
}

std::string_view program_version() noexcept {
    return build_info::version;
}

}  // namespace ringscope::environment
