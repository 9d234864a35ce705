// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/pci.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/health/fake_machine.hpp"

namespace ringscope::health {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string root_port = "0000:3a:00.0", upper = "0000:3b:00.0", lower = "0000:3c:00.0",
                  gpu = "0000:3d:00.0";
const FakeDevice fast_port = with_link({}, "32.0 GT/s PCIe", "16");

std::vector<std::string> addresses(const std::vector<const PciDevice*>& devices) {
    std::vector<std::string> names;
    for (const PciDevice* device : devices) names.push_back(device->address);
    return names;
}

/// A GPU behind a switch.
FakeMachine& build(FakeMachine& machine) {
    return machine.device({root_port}, fast_port)
        .device({root_port, upper}, fast_port)
        .device({root_port, upper, lower}, fast_port)
        .device({root_port, upper, lower, gpu}, gpu_at("16.0 GT/s PCIe", "8"));
}

TEST(Rate, IsThatOfTheStandard) {
    // PCI Express: 0.25 GB/s per lane in the first generation; 15.75, 31.5 and 63.0 GB/s for 16 lanes of the
    // third to fifth.
    EXPECT_DOUBLE_EQ(gigabytes_per_second({2.5, 1}), 0.25);
    EXPECT_DOUBLE_EQ(gigabytes_per_second({5, 16}), 8.0);
    EXPECT_NEAR(gigabytes_per_second({8, 16}), 15.75, 0.01);
    EXPECT_NEAR(gigabytes_per_second({16, 16}), 31.51, 0.01);
    EXPECT_NEAR(gigabytes_per_second({32, 16}), 63.02, 0.01);
    EXPECT_NEAR(gigabytes_per_second({64, 16}), 118.0, 0.1);
    EXPECT_EQ(gigabytes_per_second({}), 0);
}

TEST(Address, IsTheKernelsWhateverItsForm) {
    for (const char* text : {"0000:3b:00.0", "00000000:3B:00.0", "0000:3B:00", "3b:00.0", "3b:00"})
        EXPECT_EQ(pci_address(text), "0000:3b:00.0") << text;
    EXPECT_EQ(pci_address("00010000:01:00.0"), "10000:01:00.0");
}

TEST(Tree, PathIsTheNestingOfFolders) {
    FakeMachine machine;
    const PciTree tree = PciTree::read(build(machine).sources());
    EXPECT_THAT(addresses(tree.path(gpu)), ElementsAre(gpu, lower, upper, root_port));
    EXPECT_THAT(addresses(tree.path("00000000:3D:00.0")), ElementsAre(gpu, lower, upper, root_port));
    EXPECT_THAT(addresses(tree.below(upper)), ElementsAre(lower, gpu));
    EXPECT_THAT(addresses(tree.gpus()), ElementsAre(gpu));
    EXPECT_THAT(addresses(tree.path("0000:ff:00.0")), IsEmpty());
    EXPECT_EQ(tree.find(root_port)->parent, "");
}

TEST(Tree, FieldsAreThoseOfTheFiles) {
    FakeMachine machine;
    build(machine);
    FakeDevice device = gpu_at("2.5 GT/s PCIe", "1");
    device.correctable = "17";
    device.fatal = "2";
    device.numa_node = "1";
    machine.describe(gpu, device);
    machine.file("/sys/bus/pci/devices/" + gpu + "/iommu_group/type", "DMA-FQ\n");
    machine.file("/sys/bus/pci/devices/" + gpu + "/link/l1_aspm", "1\n");
    const PciTree tree = PciTree::read(machine.sources());
    const PciDevice& found = *tree.find(gpu);
    EXPECT_EQ(found.now, (PciLink{2.5, 1}));
    EXPECT_EQ(found.most, (PciLink{32, 16}));
    EXPECT_EQ(found.errors, (PciErrors{17, 0, 2}));
    EXPECT_EQ(found.numa_node, 1);
    EXPECT_EQ(found.class_code, 0x030200u);
    EXPECT_EQ(found.iommu, "DMA-FQ");
    EXPECT_EQ(found.aspm, true);
}

TEST(Tree, WhatIsNotKnown_IsNoNumber) {
    for (const char* width : {"255", "0", "63"}) {
        FakeMachine machine;
        build(machine);
        FakeDevice device = gpu_at("Unknown", width);
        device.correctable = device.nonfatal = device.fatal = "";
        FakeMachine other;
        other.device({gpu}, device);
        const PciTree tree = PciTree::read(other.sources());
        EXPECT_EQ(tree.find(gpu)->now, PciLink{});
        EXPECT_EQ(tree.find(gpu)->errors, PciErrors{});
        EXPECT_EQ(tree.find(gpu)->aspm, std::nullopt);
        EXPECT_EQ(tree.find(gpu)->acs_redirect, std::nullopt);
    }
}

TEST(Tree, MachineWithoutPci_IsEmpty) {
    const FakeMachine machine;
    EXPECT_THAT(PciTree::read(machine.sources()).devices(), IsEmpty());
}

TEST(Tree, ConfigurationSpace_TellsAspmAndRedirection) {
    const auto read = [](unsigned link_control, unsigned acs_control) {
        FakeMachine machine;
        build(machine).file(
            "/sys/bus/pci/devices/" + lower + "/config", config_space(link_control, acs_control)
        );
        const PciTree tree = PciTree::read(machine.sources());
        return std::pair{tree.find(lower)->aspm, tree.find(lower)->acs_redirect};
    };
    EXPECT_EQ(read(0x0000, 0x0000), (std::pair{std::optional{false}, std::optional{false}}));
    EXPECT_EQ(read(0x0002, 0x0004), (std::pair{std::optional{true}, std::optional{true}}));
    EXPECT_EQ(read(0x0001, 0x0008), (std::pair{std::optional{true}, std::optional{true}}));
    // Source validation, translation blocking, upstream forwarding: no redirection.
    EXPECT_EQ(read(0x0040, 0x0013), (std::pair{std::optional{false}, std::optional{false}}));
}

TEST(Tree, BeginningOfAConfigurationSpace_TellsNothing) {
    FakeMachine machine;
    build(machine).file(
        "/sys/bus/pci/devices/" + lower + "/config", config_space(0x0002, 0x000c).substr(0, 64)
    );
    const PciTree tree = PciTree::read(machine.sources());
    EXPECT_EQ(tree.find(lower)->aspm, std::nullopt);
    EXPECT_EQ(tree.find(lower)->acs_redirect, std::nullopt);
}

TEST(Tree, SamplesKeepTheBestLinkAndTheErrorsOfNow) {
    FakeMachine machine;
    PciTree tree = PciTree::read(build(machine).sources());
    FakeDevice device = gpu_at("32.0 GT/s PCIe", "4");
    device.correctable = "3";
    machine.describe(gpu, device);
    tree.sample_again(machine.sources());
    EXPECT_EQ(tree.find(gpu)->now, (PciLink{32, 8}));
    EXPECT_EQ(tree.find(gpu)->errors.correctable, 3);
}

TEST(Links, AreThoseBetweenPorts) {
    FakeMachine machine;
    const PciTree tree = PciTree::read(build(machine).sources());
    const std::vector<PathLink> links = tree.links(gpu);
    ASSERT_EQ(links.size(), 2u);
    EXPECT_EQ(links[0].lower, gpu);
    EXPECT_EQ(links[0].upper, lower);
    EXPECT_EQ(links[0].now, (PciLink{16, 8}));
    EXPECT_EQ(links[1].lower, upper);
    EXPECT_EQ(links[1].upper, root_port);
    EXPECT_EQ(links[1].most(), (PciLink{32, 16}));
}

TEST(Links, PortThatAVirtualMachineMakesUp_IsNotSeen) {
    FakeMachine machine;
    FakeDevice port = with_link({.vendor = "0x1b36"}, "64.0 GT/s PCIe", "32");
    machine.device({root_port}, port).device({root_port, gpu}, gpu_at("32.0 GT/s PCIe", "16"));
    const std::vector<PathLink> links = PciTree::read(machine.sources()).links(gpu);
    ASSERT_EQ(links.size(), 1u);
    EXPECT_EQ(links[0].upper, "");
    EXPECT_EQ(links[0].most(), (PciLink{32, 16}));
}

TEST(Links, PortThatCanDoLessThanWhatRunsBelowIt_IsNotSeen) {
    FakeMachine machine;
    machine.device({root_port}, with_link({}, "2.5 GT/s PCIe", "1"))
        .device({root_port, gpu}, gpu_at("32.0 GT/s PCIe", "16"));
    EXPECT_EQ(PciTree::read(machine.sources()).links(gpu).at(0).upper, "");
}

}  // namespace
}  // namespace ringscope::health
