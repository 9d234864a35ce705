// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doctor/machines.hpp"

namespace ringscope::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(HealthyMachine, HasNoFinding) {
    const Machine machine;
    EXPECT_EQ(ids_at_rest(machine), Ids{});
    EXPECT_EQ(ids_after(read_system(machine.sources()), machine, true), Ids{});
}

/// The article's machine: 2.5 GT/s x1 where more is due, with corrected errors.
TEST(LinkThatFellBack, IsFoundWithItsErrors) {
    Machine machine;
    FakeDevice device = gpu_at("2.5 GT/s PCIe", "1");
    device.correctable = "1204";
    machine.describe(Machine::gpu[0], device);
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm pcie-width", "harm pcie-speed", "note aer-errors"}));
    EXPECT_EQ(found[0].where, "0000:3d:00.0 below 0000:3c:00.0");
    EXPECT_THAT(
        found[0].evidence, AllOf(HasSubstr("2.5 GT/s x1 (0.2 GB/s)"), HasSubstr("32 GT/s x16 (63.0 GB/s)"))
    );
    EXPECT_THAT(found[0].effect, HasSubstr("6 % of the lanes"));
    EXPECT_EQ(found[2].where, "0000:3d:00.0");
    EXPECT_THAT(found[2].evidence, HasSubstr("1204 correctable"));
}

TEST(NarrowLink, OfAHealthySpeed_IsHarm) {
    Machine machine;
    machine.describe(Machine::gpu[1], gpu_at("32.0 GT/s PCIe", "8"));
    EXPECT_EQ(ids_at_rest(machine), (Ids{"harm pcie-width"}));
}

TEST(SlowLink, ThatMaySleep_IsANote) {
    Machine machine;
    machine.describe(Machine::gpu[0], gpu_at("2.5 GT/s PCIe", "16"));
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"note pcie-speed"}));
    EXPECT_THAT(found[0].effect, HasSubstr("only sleeps"));
}

TEST(SlowLink, ThatSpeedsUpUnderLoad_IsNoFinding) {
    Machine machine;
    machine.describe(Machine::gpu[0], gpu_at("2.5 GT/s PCIe", "16"));
    const System before = read_system(machine.sources());
    machine.describe(Machine::gpu[0], Machine::fast_gpu(0));
    EXPECT_EQ(ids_after(before, machine, true), Ids{});
    EXPECT_EQ(ids_after(before, machine, false), Ids{}) << "the better of two samples, also without load";
}

TEST(SlowLink, UnderLoad_IsHarm) {
    Machine machine;
    machine.describe(Machine::gpu[0], gpu_at("16.0 GT/s PCIe", "16"));
    const std::vector<Finding> found = findings_after(read_system(machine.sources()), machine, true);
    ASSERT_EQ(ids_of(found), (Ids{"harm pcie-speed"}));
    EXPECT_THAT(found[0].evidence, HasSubstr("under load"));
}

TEST(SlowLink, OfAGpuThatWasNotLoaded_IsANote) {
    Machine machine;
    machine.describe(Machine::gpu[0], gpu_at("16.0 GT/s PCIe", "16"));
    EXPECT_EQ(ids_at_rest(machine, {.loaded = {Machine::gpu[1]}}), (Ids{"note pcie-speed"}));
}

TEST(FastLink, ThatFallsUnderLoad_IsHarm) {
    Machine machine;
    const System before = read_system(machine.sources());
    machine.describe(Machine::gpu[0], gpu_at("8.0 GT/s PCIe", "16"));
    EXPECT_EQ(ids_after(before, machine, true), (Ids{"harm pcie-speed"}));
}

TEST(SlowLink, WhoseErrorsGrow_DoesNotSleep) {
    Machine machine;
    machine.describe(Machine::gpu[0], gpu_at("2.5 GT/s PCIe", "16"));
    const System before = read_system(machine.sources());
    FakeDevice device = gpu_at("2.5 GT/s PCIe", "16");
    device.correctable = "5";
    machine.describe(Machine::gpu[0], device);
    EXPECT_EQ(ids_after(before, machine, false), (Ids{"harm pcie-speed", "harm aer-errors"}));
}

TEST(LinkOfASwitch, ThatFellBack_IsNamed) {
    Machine machine;
    FakeDevice port = Machine::fast_port();
    port.width = "4";
    machine.describe(Machine::upper[0], port);
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm pcie-width"}));
    EXPECT_EQ(found[0].where, "0000:3b:00.0 below 0000:3a:00.0");
}

TEST(NarrowSwitch, AboveAHealthyGpu_IsFound) {
    Machine machine;
    machine.describe(Machine::upper[0], with_link({}, "32.0 GT/s PCIe", "4"));
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm narrow-path"}));
    EXPECT_EQ(found[0].where, "0000:3b:00.0 below 0000:3a:00.0");
    EXPECT_THAT(found[0].effect, HasSubstr("15.8 of 63.0 GB/s"));
}

TEST(NarrowSwitch, AboveTwoGpus_IsFoundOnce) {
    Machine machine;
    machine.describe(Machine::upper[0], with_link({}, "8.0 GT/s PCIe", "16"));
    machine.device({Machine::root[0], Machine::upper[0], "0000:3c:01.0"}, Machine::fast_port());
    machine.device(
        {Machine::root[0], Machine::upper[0], "0000:3c:01.0", "0000:3e:00.0"}, Machine::fast_gpu(0)
    );
    EXPECT_EQ(ids_at_rest(machine), (Ids{"harm narrow-path"}));
}

TEST(Slot, NarrowerThanTheCard_IsHarm) {
    Machine machine;
    machine.describe(Machine::lower[0], with_link({}, "32.0 GT/s PCIe", "8"));
    machine.describe(Machine::gpu[0], gpu_at("32.0 GT/s PCIe", "8"));
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm pcie-width"}));
    EXPECT_THAT(found[0].advice, HasSubstr("wider slot"));
}

TEST(Slot, OfAnOlderGeneration_IsANote) {
    Machine machine;
    for (const char* port : {Machine::lower[0], Machine::upper[0], Machine::root[0]})
        machine.describe(port, with_link({}, "16.0 GT/s PCIe", "16"));
    machine.describe(Machine::gpu[0], gpu_at("16.0 GT/s PCIe", "16"));
    EXPECT_EQ(ids_after(read_system(machine.sources()), machine, true), (Ids{"note pcie-speed"}));
}

TEST(Link, ThatIsNotKnown_IsNotJudged) {
    for (const char* width : {"0", "255", "63", ""}) {
        Machine machine;
        machine.describe(Machine::gpu[0], gpu_at("Unknown", width));
        if (std::string{width}.empty())
            machine.file(Machine::sys(Machine::gpu[0]) + "current_link_width", "");
        EXPECT_EQ(ids_at_rest(machine), Ids{}) << width;
    }
}

TEST(Errors, ByTheirKind) {
    const auto ids = [](const std::string& correctable, const std::string& nonfatal,
                        const std::string& fatal) {
        Machine machine;
        FakeDevice port = Machine::fast_port();
        port.correctable = correctable;
        port.nonfatal = nonfatal;
        port.fatal = fatal;
        machine.describe(Machine::root[0], port);
        return ids_at_rest(machine);
    };
    EXPECT_EQ(ids("1", "0", "0"), (Ids{"note aer-errors"}));
    EXPECT_EQ(ids("0", "1", "0"), (Ids{"harm aer-errors"}));
    EXPECT_EQ(ids("0", "0", "1"), (Ids{"harm aer-errors"}));
    EXPECT_EQ(ids("", "", ""), Ids{});
}

TEST(Errors, OfKindsThatAreNotCounted_AreNotNamed) {
    Machine machine;
    machine.file(Machine::sys(Machine::gpu[0]) + "aer_dev_correctable", "TOTAL_ERR_COR 7\n");
    for (const char* name : {"aer_dev_nonfatal", "aer_dev_fatal"})
        machine.file(Machine::sys(Machine::gpu[0]) + name, "");
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"note aer-errors"}));
    EXPECT_EQ(found[0].evidence, "7 correctable errors since start");
}

TEST(Errors, ThatGrow_AreHarm) {
    Machine machine;
    FakeDevice port = Machine::fast_port();
    port.correctable = "10";
    machine.describe(Machine::lower[1], port);
    const System before = read_system(machine.sources());
    EXPECT_EQ(ids_after(before, machine, true), (Ids{"note aer-errors"}));
    port.correctable = "11";
    machine.describe(Machine::lower[1], port);
    const std::vector<Finding> found = findings_after(before, machine, true);
    ASSERT_EQ(ids_of(found), (Ids{"harm aer-errors"}));
    EXPECT_THAT(found[0].evidence, AllOf(HasSubstr("11 correctable"), HasSubstr("before 10 correctable")));
}

TEST(Errors, OfADeviceThatIsOnNoGpusWay_AreNotOurs) {
    Machine machine;
    FakeDevice card{.class_code = "0x020000"};
    card.fatal = "9";
    machine.device({"0000:00:1f.6"}, card);
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(Errors, OfAKernelThatDoesNotCount_AreThoseOfItsLog) {
    Machine machine;
    FakeDevice port = Machine::fast_port();
    for (const char* name : {"aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"})
        machine.file(Machine::sys(Machine::root[0]) + name, "");
    machine.file(
        "/dev/kmsg",
        "pcieport 0000:3a:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer\n"
        "pcieport 0000:5a:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer\n"
    );
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"note aer-errors"})) << "the other port counts, and has none";
    EXPECT_EQ(found[0].where, "0000:3a:00.0");
}

TEST(VirtualMachine, WithoutAerAndWithPortsThatItMakesUp_HasNoFinding) {
    FakeMachine machine;
    FakeDevice port = with_link({.vendor = "0x1b36", .device = "0x000c"}, "16.0 GT/s PCIe", "32");
    FakeDevice gpu = gpu_at("32.0 GT/s PCIe", "16");
    port.correctable = port.nonfatal = port.fatal = gpu.correctable = gpu.nonfatal = gpu.fatal = "";
    machine.device({"0000:00:02.0"}, port).device({"0000:00:02.0", "0000:01:00.0"}, gpu);
    machine.device({"0000:00:02.1"}, with_link({}, "2.5 GT/s PCIe", "1"));
    machine.device({"0000:00:02.1", "0000:02:00.0"}, gpu);
    // What it makes up of its disks and cards has no link.
    machine.device({"0000:00:02.2"}, port)
        .device({"0000:00:02.2", "0000:03:00.0"}, {.class_code = "0x020000"});
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(VirtualMachine, WhoseGpuRunsBelowItsBest_CannotTellWhy) {
    FakeMachine machine;
    const auto ids = [&](const std::string& speed) {
        machine.describe(Machine::gpu[0], gpu_at(speed, "16"));
        return ids_at_rest(machine, {.loaded = {Machine::gpu[0]}});
    };
    machine.device({Machine::gpu[0]}, Machine::fast_gpu(0));
    EXPECT_EQ(ids("16.0 GT/s PCIe"), (Ids{"note pcie-speed"}));
    EXPECT_EQ(ids("2.5 GT/s PCIe"), (Ids{"harm pcie-speed"}));
}

TEST(NetworkCard, BelowTheSameSwitch_IsANote) {
    Machine machine;
    machine.device({Machine::root[0], Machine::upper[0], "0000:3c:01.0"}, Machine::fast_port());
    machine.device(
        {Machine::root[0], Machine::upper[0], "0000:3c:01.0", "0000:3e:00.0"},
        with_link({.class_code = "0x020700", .vendor = "0x15b3"}, "32.0 GT/s PCIe", "16")
    );
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"note shared-switch"}));
    EXPECT_EQ(found[0].where, Machine::gpu[0]);
    EXPECT_THAT(found[0].evidence, HasSubstr("0000:3b:00.0 are also 0000:3e:00.0"));
}

TEST(FunctionsOfTheCardItself, AreNoOtherDevices) {
    Machine machine;
    machine.device(
        {Machine::root[0], Machine::upper[0], Machine::lower[0], "0000:3d:00.1"}, {.class_code = "0x010000"}
    );
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(Aspm, PolicyPowersave) {
    Machine machine;
    machine.policy("default performance [powersave] powersupersave");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"harm aspm"}));
    machine.policy("default performance powersave [powersupersave]");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"harm aspm"}));
    machine.policy("default [performance] powersave powersupersave");
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

TEST(Aspm, LinkThatMaySleep_IsANote) {
    Machine machine;
    machine.file(Machine::sys(Machine::gpu[1]) + "link/l1_aspm", "1\n");
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"note aspm"}));
    EXPECT_EQ(found[0].where, Machine::gpu[1]);
}

TEST(Aspm, WithoutGpus_IsNoFinding) {
    FakeMachine machine;
    machine.file("/sys/module/pcie_aspm/parameters/policy", "default performance [powersave]\n");
    EXPECT_EQ(ids_at_rest(machine), Ids{});
}

/// A second GPU below the first one's switch.
void add_neighbour(Machine& machine) {
    machine.device({Machine::root[0], Machine::upper[0], "0000:3c:01.0"}, Machine::fast_port());
    machine.device(
        {Machine::root[0], Machine::upper[0], "0000:3c:01.0", "0000:3e:00.0"}, Machine::fast_gpu(0)
    );
}

TEST(AcsRedirection, BetweenGpusOfOneSwitch_IsHarm) {
    Machine machine;
    add_neighbour(machine);
    machine.file(Machine::sys(Machine::lower[0]) + "config", health::config_space(0, 0x1d));
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm acs-redirect"}));
    EXPECT_EQ(found[0].where, Machine::lower[0]);
    EXPECT_THAT(found[0].evidence, HasSubstr("IOMMU: identity"));
}

TEST(AcsRedirection, WherePacketsDoNotTurn_IsANote) {
    Machine machine;
    machine.file(Machine::sys(Machine::lower[0]) + "config", health::config_space(0, 0x1d));
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note acs-redirect"}));
}

TEST(AcsRedirection, OfGpusThatNvlinkJoins_IsANote) {
    Machine machine;
    add_neighbour(machine);
    machine.file(Machine::sys(Machine::lower[0]) + "config", health::config_space(0, 0x1d));
    std::vector<health::GpuState> gpus = Machine::healthy_gpus();
    for (health::GpuState& gpu : gpus) gpu.nvlinks = gpu.active_nvlinks = 18;
    machine.gpus(gpus);
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note acs-redirect"}));
}

TEST(Iommu, ThatTranslates) {
    for (const char* mode : {"DMA", "DMA-FQ"}) {
        Machine machine;
        for (const char* gpu : Machine::gpu)
            machine.file(Machine::sys(gpu) + "iommu_group/type", std::string{mode} + "\n");
        const std::vector<Finding> found = findings_at_rest(machine);
        ASSERT_EQ(ids_of(found), (Ids{"harm iommu"}));
        EXPECT_EQ(found[0].where, "0000:3d:00.0, 0000:5d:00.0");
        EXPECT_EQ(ids_at_rest(machine, {.pairs = PairTest{.gpus = 2}}), (Ids{"note iommu"})) << "pairs work";
    }
}

}  // namespace
}  // namespace ringscope::doctor
