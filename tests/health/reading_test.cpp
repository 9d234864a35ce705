// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/reading.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/health/fake_machine.hpp"

namespace ringscope::health {
namespace {

const std::string root_port = "0000:3a:00.0", gpu = "0000:3b:00.0";

FakeMachine& build(FakeMachine& machine) {
    FakeDevice port = with_link({}, "16.0 GT/s PCIe", "16");
    port.correctable = "4";
    FakeDevice device = gpu_at("16.0 GT/s PCIe", "16");
    device.correctable = "3";
    device.fatal = "1";
    return machine.device({root_port}, port).device({root_port, gpu}, device);
}

TEST(Reading, OfAGpu) {
    FakeMachine machine;
    build(machine)
        .file("/dev/kmsg", "NVRM: Xid (PCI:0000:3b:00): 79, x\nNVRM: Xid (PCI:0000:5e:00): 79, x\n")
        .gpus(
            {{.pci_id = gpu,
              .sm_clock_mhz = 1410,
              .throttle = {"power_cap", "thermal"},
              .throttled_ns = 7,
              .temperature_c = 61,
              .power_w = 250}}
        );
    const Reading expected{
        .pci_id = gpu,
        .link_gts = 16,
        .link_width = 16,
        .path_gbps = 16.0 * 16 / 8 * 128 / 130,
        .aer_correctable = 7,
        .aer_nonfatal = 0,
        .aer_fatal = 1,
        .xids = 1,
        .sm_clock_mhz = 1410,
        .throttle = "power_cap thermal",
        .throttled_ns = 7,
        .temperature_c = 61,
        .power_w = 250};
    Reading reading = read_device("00000000:3B:00.0", machine.sources());
    EXPECT_NEAR(reading.path_gbps, expected.path_gbps, 1e-9);
    reading.path_gbps = expected.path_gbps;
    EXPECT_EQ(reading, expected);
}

TEST(Reading, PathIsAsFastAsItsSlowestLink) {
    FakeMachine machine;
    const std::string upper = "0000:3b:00.0", lower = "0000:3c:00.0", card = "0000:3d:00.0";
    const FakeDevice fast = with_link({}, "32.0 GT/s PCIe", "16");
    FakeDevice narrow = fast;
    narrow.speed = "2.5 GT/s PCIe";
    narrow.width = "4";
    machine.device({root_port}, fast)
        .device({root_port, upper}, narrow)
        .device({root_port, upper, lower}, fast)
        .device({root_port, upper, lower, card}, gpu_at("32.0 GT/s PCIe", "16"));
    const Reading reading = read_device(card, machine.sources());
    EXPECT_EQ(reading.link_gts, 32);
    EXPECT_DOUBLE_EQ(reading.path_gbps, 1.0);
}

TEST(Reading, OfWhatIsNotThere_KnowsNothing) {
    const FakeMachine machine;
    EXPECT_EQ(read_device(gpu, machine.sources()), Reading{.pci_id = gpu});
}

TEST(Reading, LogThatCannotBeRead_IsNotNoError) {
    FakeMachine machine;
    EXPECT_EQ(read_device(gpu, build(machine).sources()).xids, -1);
    machine.file("/dev/kmsg", "6,1,2,-;booted\n");
    EXPECT_EQ(read_device(gpu, machine.sources()).xids, 0);
}

TEST(Reading, ChangeOfTheMachine_IsSeenByTheNextOne) {
    FakeMachine machine;
    EXPECT_EQ(read_device(gpu, build(machine).sources()).link_width, 16);
    machine.describe(gpu, gpu_at("2.5 GT/s PCIe", "1"));
    EXPECT_EQ(read_device(gpu, machine.sources()).link_width, 1);
}

}  // namespace
}  // namespace ringscope::health
