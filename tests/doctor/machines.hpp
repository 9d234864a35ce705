// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "doctor/findings.hpp"
#include "tests/health/fake_machine.hpp"

namespace ringscope::doctor {

using health::FakeDevice;
using health::FakeMachine;
using health::gpu_at;
using health::with_link;

using Ids = std::vector<std::string>;

/// Two GPUs, each behind a switch of its own at a port of its own, all links of the fifth generation and 16
/// lanes wide; 32 CPUs on two NUMA nodes.
struct Machine : FakeMachine {
    static constexpr const char *root[2] = {"0000:3a:00.0", "0000:5a:00.0"},
                                *upper[2] = {"0000:3b:00.0", "0000:5b:00.0"},
                                *lower[2] = {"0000:3c:00.0", "0000:5c:00.0"},
                                *gpu[2] = {"0000:3d:00.0", "0000:5d:00.0"};

    Machine() {
        for (int i = 0; i < 2; ++i) {
            device({root[i]}, fast_port());
            device({root[i], upper[i]}, fast_port());
            device({root[i], upper[i], lower[i]}, fast_port());
            device({root[i], upper[i], lower[i], gpu[i]}, fast_gpu(i));
            file(sys(gpu[i]) + "iommu_group/type", "identity\n");
            file(sys(lower[i]) + "config", health::config_space(0, 0x11));
        }
        gpus(healthy_gpus());
        add_host();
    }

    static std::string sys(const std::string& address) { return "/sys/bus/pci/devices/" + address + "/"; }
    static FakeDevice fast_port() { return with_link({}, "32.0 GT/s PCIe", "16"); }
    static FakeDevice fast_gpu(int number) {
        FakeDevice device = gpu_at("32.0 GT/s PCIe", "16");
        device.numa_node = std::to_string(number);
        return device;
    }
    static std::vector<health::GpuState> healthy_gpus() {
        std::vector<health::GpuState> states;
        for (const char* address : gpu) {
            states.push_back(
                {.pci_id = address,
                 .name = "NVIDIA H200",
                 .sm_clock_mhz = 1980,
                 .most_sm_clock_mhz = 1980,
                 .throttle = {"idle"},
                 .throttled_ns = 0,
                 .temperature_c = 35,
                 .power_w = 80,
                 .power_limit_w = 700,
                 .ecc_corrected = 0,
                 .ecc_uncorrected = 0,
                 .rows_pending = false,
                 .rows_failed = false,
                 .persistence = true,
                 .mig = false,
                 .compute_mode = "default",
                 .nvlinks = 0,
                 .active_nvlinks = 0}
            );
        }
        return states;
    }

    Machine& shm(const std::string& size) {
        file("/proc/mounts", "tmpfs /dev/shm tmpfs rw,relatime,size=" + size + " 0 0\n");
        return *this;
    }
    Machine& limits(const std::string& files, const std::string& locked) {
        file(
            "/proc/self/limits",
            "Max open files            " + files + "                 4096                 files\n" +
                "Max locked memory         " + locked + "              unlimited            bytes\n"
        );
        return *this;
    }
    Machine& cpus(const std::string& list) {
        file("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t" + list + "\n");
        return *this;
    }
    Machine& policy(const std::string& words) {
        file("/sys/module/pcie_aspm/parameters/policy", words + "\n");
        return *this;
    }

 private:
    void add_host() {
        file("/proc/cpuinfo", "model name\t: Example CPU\nflags\t\t: fpu avx2\n");
        file("/proc/meminfo", "MemTotal:       527934208 kB\n");
        file("/proc/sys/kernel/osrelease", "6.8.0\n");
        file("/sys/devices/system/node/node0/cpulist", "0-15\n");
        file("/sys/devices/system/node/node1/cpulist", "16-31\n");
        file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        file("/sys/module/nvidia/version", "580.95.05\n");
        file("/dev/kmsg", "6,1,2,-;booted\n");
        cpus("0-31").shm("66060288k").limits("65536", "unlimited").policy("[default] performance powersave");
    }
};

/// "harm pcie-width", in order of harm.
inline Ids ids_of(const std::vector<Finding>& findings) {
    Ids ids;
    for (const Finding& finding : findings)
        ids.push_back(std::string{name_of(finding.severity)} + " " + std::string{finding.id});
    return ids;
}

/// A machine that does not change and whose GPUs cannot be made to work.
inline std::vector<Finding> findings_at_rest(
    const FakeMachine& machine, const Circumstances& circumstances = {}
) {
    const System system = read_system(machine.sources());
    return findings(system, system, circumstances);
}

inline Ids ids_at_rest(const FakeMachine& machine, const Circumstances& circumstances = {}) {
    return ids_of(findings_at_rest(machine, circumstances));
}

/// What the machine was, and what it is now, with both GPUs at work or none.
inline std::vector<Finding> findings_after(const System& before, const FakeMachine& machine, bool loaded) {
    Circumstances circumstances;
    if (loaded) circumstances.loaded = {Machine::gpu[0], Machine::gpu[1]};
    return findings(before, read_system(machine.sources()), circumstances);
}

inline Ids ids_after(const System& before, const FakeMachine& machine, bool loaded) {
    return ids_of(findings_after(before, machine, loaded));
}

}  // namespace ringscope::doctor
