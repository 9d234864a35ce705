// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doctor/machines.hpp"

namespace ringscope::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A container of two cores without GPUs.
void build_container(FakeMachine& machine, const std::string& shm = "65536k") {
    machine.file("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
    machine.file("/proc/mounts", "shm /dev/shm tmpfs rw,nosuid,size=" + shm + ",inode64 0 0\n");
    machine.file(
        "/proc/self/limits", "Max open files            1024                 524288               files\n"
    );
    machine.file("/proc/self/cgroup", "0::/docker/abc\n");
}

TEST(Shm, OfDocker_IsTooSmallForGpus) {
    Machine machine;
    machine.shm("65536k");
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm shm-small"}));
    EXPECT_THAT(found[0].evidence, AllOf(HasSubstr("holds 64 MiB"), HasSubstr("496 MiB")));
}

TEST(Shm, OfDocker_IsANoteWhereTwoRanksFit) {
    FakeMachine machine;
    build_container(machine);
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note shm-small"}));
}

TEST(Shm, SmallerThanTwoRanksNeed_IsHarm) {
    // 2 x 1 connections of 8 slots of 64 KiB: 1 MiB.
    FakeMachine machine, enough;
    build_container(machine, "1023k");
    build_container(enough, "1024k");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"harm shm-small"}));
    EXPECT_EQ(ids_at_rest(enough), (Ids{"note shm-small"}));
}

TEST(Shm, TheLastMountCounts) {
    Machine machine;
    machine.file(
        "/proc/mounts",
        "tmpfs /dev/shm tmpfs rw,size=65536k 0 0\ntmpfs /dev/shm tmpfs rw,size=66060288k 0 0\n"
    );
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(Shm, SizesOfEveryUnit) {
    for (const char* size : {"8g", "8192m", "8388608k", "8589934592"}) {
        Machine machine;
        machine.shm(size);
        EXPECT_EQ(read_host(machine.sources()).shm_bytes, std::int64_t{8} << 30) << size;
    }
}

TEST(Quota, BelowTheCpus_IsHarm) {
    Machine machine;
    machine.file("/proc/self/cgroup", "0::/docker/abc\n");
    machine.file("/sys/fs/cgroup/cpu.max", "400000 100000\n");
    machine.file(
        "/sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_periods 100\nnr_throttled 37\nthrottled_usec 9\n"
    );
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm cpu-quota"}));
    EXPECT_THAT(
        found[0].evidence, AllOf(HasSubstr("32 CPUs"), HasSubstr("time of 4 only"), HasSubstr("37 times"))
    );
}

TEST(Quota, OfAnOlderControlGroup) {
    Machine machine;
    machine.file("/proc/self/cgroup", "4:cpu,cpuacct:/kube/x\n");
    machine.file("/sys/fs/cgroup/cpu/kube/x/cpu.cfs_quota_us", "150000\n");
    machine.file("/sys/fs/cgroup/cpu/kube/x/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"harm cpu-quota"}));
    EXPECT_DOUBLE_EQ(read_host(machine.sources()).cpu_quota, 1.5);
}

TEST(Quota, OfAllCpusOrNone_IsNoFinding) {
    for (const char* limit : {"max 100000", "3200000 100000", "6400000 100000"}) {
        Machine machine;
        machine.file("/sys/fs/cgroup/cpu.max", std::string{limit} + "\n");
        EXPECT_EQ(ids_at_rest(machine), Ids{}) << limit;
    }
}

TEST(Memlock, MattersWithInfiniband) {
    Machine machine;
    machine.limits("65536", "8388608");
    EXPECT_EQ(ids_at_rest(machine), Ids{});
    machine.file("/sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"harm memlock"}));
    machine.limits("65536", "unlimited");
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(OpenFiles, FewOnes_AreANote) {
    Machine machine;
    machine.limits("1023", "unlimited");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note open-files"}));
    machine.limits("1024", "unlimited");
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(Numa, GpuFarFromAllCpusOfThisProcess_IsHarm) {
    Machine machine;
    machine.cpus("0-7");
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm numa"}));
    EXPECT_EQ(found[0].where, Machine::gpu[1]);
    EXPECT_THAT(found[0].evidence, AllOf(HasSubstr("node 1 with CPUs 16-31"), HasSubstr("CPUs 0-7 only")));
    machine.cpus("0-7,31");
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(Numa, NodeThatIsNotKnownOrHasNoCpus_IsNotJudged) {
    Machine machine;
    machine.cpus("0-7").file("/sys/devices/system/node/node1/cpulist", "\n");
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(Settings, ClockAndGovernor) {
    const std::string clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    for (const char* slow : {"hpet", "acpi_pm"}) {
        Machine machine;
        machine.file(clock, std::string{slow} + "\n");
        EXPECT_EQ(ids_at_rest(machine), (Ids{"harm clocksource"})) << slow;
    }
    for (const char* good : {"tsc", "kvm-clock", "arch_sys_counter"}) {
        Machine machine;
        machine.file(clock, std::string{good} + "\n");
        EXPECT_EQ(ids_at_rest(machine), Ids{}) << good;
    }
    Machine machine;
    machine.file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note governor"}));
}

TEST(Versions, KnownToBeBad_AreANote) {
    Machine machine;
    machine.file("/sys/module/nvidia/version", "560.35.03\n");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note version"}));
    machine.file("/sys/module/nvidia/version", "570.86.15\n").file("/nccl.version", "2.29.2\n");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note version"}));
    machine.file("/nccl.version", "2.29.3\n");
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(MachineOfWhichNothingIsKnown, HasNoFinding) {
    EXPECT_EQ(ids_at_rest(FakeMachine{}), Ids{});
}

TEST(Laptop, WithoutAGpuForCuda_HasNoHarm) {
    FakeMachine machine;
    machine.device({"0000:00:02.0"}, {.class_code = "0x030000", .vendor = "0x8086"});
    machine.file("/proc/self/status", "Cpus_allowed_list:\t0-7\n");
    machine.file("/proc/mounts", "tmpfs /dev/shm tmpfs rw,size=8g 0 0\n");
    machine.file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    machine.file("/sys/module/pcie_aspm/parameters/policy", "default performance [powersave]\n");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note governor"}));
}

TEST(Order, HarmBeforeNotes_AndTheWorseFirst) {
    Machine machine;
    machine.shm("65536k").limits("64", "unlimited");
    FakeDevice device = gpu_at("32.0 GT/s PCIe", "4");
    device.correctable = "1";
    machine.describe(Machine::gpu[0], device);
    EXPECT_EQ(
        ids_at_rest(machine), (Ids{"harm pcie-width", "harm shm-small", "note aer-errors", "note open-files"})
    );
}

TEST(Findings, AllSayWhereWhyAndWhatToDo) {
    Machine machine;
    machine.shm("65536k").limits("64", "unlimited").policy("[powersave]");
    machine.describe(Machine::gpu[0], gpu_at("2.5 GT/s PCIe", "4"));
    for (const Finding& finding : findings_at_rest(machine)) {
        EXPECT_FALSE(finding.where.empty() || finding.evidence.empty()) << finding.id;
        EXPECT_FALSE(finding.effect.empty() || finding.advice.empty()) << finding.id;
        EXPECT_TRUE(std::ranges::count(all_ids(), finding.id)) << finding.id;
    }
}

}  // namespace
}  // namespace ringscope::doctor
