// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "health/kernel_log.hpp"
#include "health/nvml.hpp"
#include "health/pci.hpp"

namespace ringscope::doctor {

inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The host and what it allows this process. -1 and "" where not known.
struct Host {
    std::string cpu_model{}, kernel{};
    std::string driver{}, nccl{};             ///< versions: "580.95.05", "2.28.9"
    std::vector<int> cpus{};                  ///< that this process may use
    std::map<int, std::vector<int>> nodes{};  ///< CPUs of each NUMA node
    std::optional<bool> virtual_machine{};
    std::int64_t memory_bytes = -1, shm_bytes = -1;
    std::int64_t memlock_bytes = -1, open_files = -1;
    double cpu_quota = -1;                ///< CPUs that the control group may use; -1 also without one
    std::int64_t throttled_periods = -1;  ///< in which the quota was used up
    bool infiniband = false;
    std::string aspm_policy{}, governor{}, clocksource{};
};

[[nodiscard]] Host read_host(const health::Sources& sources);

/// A machine at one moment.
struct System {
    Host host;
    health::PciTree pci;
    std::vector<health::GpuState> gpus;
    std::optional<std::vector<health::KernelMessage>> log;
};

/// What can be read now: links and clocks of this moment.
[[nodiscard]] System read_system(const health::Sources& sources);

/// What kernels that are resident together found of every ordered pair of GPUs.
struct PairTest {
    int gpus = 0;
    std::vector<std::string> unclaimed{};  ///< pairs of which the driver itself says that they do not work
    std::string fault{};                   ///< pairs that do not work, and how; "" where all do
    std::string inconclusive{};            ///< why there is no verdict, or ""

    [[nodiscard]] bool passed() const { return unclaimed.empty() && fault.empty() && inconclusive.empty(); }
};

/// How the second look at a machine differs from the first.
struct Circumstances {
    std::set<std::string> loaded{};   ///< PCI addresses of GPUs that copied from and to the host meanwhile
    std::optional<PairTest> pairs{};  ///< nothing where it was not made
};

}  // namespace ringscope::doctor
