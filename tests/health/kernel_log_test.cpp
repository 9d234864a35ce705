// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/kernel_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/health/fake_machine.hpp"

namespace ringscope::health {
namespace {

TEST(Line, XidOfEveryDriversForm) {
    for (const char* line :
         {"4,1187,98765432,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen "
          "off the bus.",
          "NVRM: Xid (0000:3b:00): 79, GPU has fallen off the bus.",
          "[ 98.765432] NVRM: Xid (PCI:0000:3b:00.0): 79, pid=12, GPU has fallen off the bus."}) {
        const auto message = parse_kernel_line(line);
        ASSERT_TRUE(message) << line;
        EXPECT_EQ(message->kind, KernelMessage::Kind::xid);
        EXPECT_EQ(message->pci_id, "0000:3b:00.0");
        EXPECT_EQ(message->xid, 79);
        EXPECT_THAT(message->text, testing::HasSubstr("fallen off the bus"));
    }
}

TEST(Line, AerNamesTheDeviceThatSawIt) {
    const auto severity = [](const std::string& words) {
        const auto message =
            parse_kernel_line("3,1,2,-;pcieport 0000:3a:00.0: PCIe Bus Error: severity=" + words);
        return message ? message->pci_id + " " + message->severity : "none";
    };
    EXPECT_EQ(severity("Corrected, type=Physical Layer, (Receiver ID)"), "0000:3a:00.0 corrected");
    EXPECT_EQ(severity("Uncorrected (Non-Fatal), type=Transaction Layer"), "0000:3a:00.0 nonfatal");
    EXPECT_EQ(severity("Uncorrectable (Fatal), type=Data Link Layer"), "0000:3a:00.0 fatal");
}

TEST(Line, OthersAreNotOurs) {
    for (const char* line :
         {"", ";", "6,1,2,-;", "usb 1-1: new device", "NVRM: Xid (PCI:0000:3b:00)",
          "NVRM: Xid (PCI:0000:3b:00): x",
          "pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0", " SUBSYSTEM=pci",
          "PCIe Bus Error: severity=Corrected"})
        EXPECT_FALSE(parse_kernel_line(line)) << line;
}

TEST(Log, IsReadBelowTheRoot) {
    FakeMachine machine;
    EXPECT_FALSE(read_kernel_log(machine.sources()));
    machine.file("/dev/kmsg", "6,1,2,-;booted\n4,2,3,-;NVRM: Xid (PCI:0000:3b:00): 48, DBE\n");
    const auto messages = read_kernel_log(machine.sources());
    ASSERT_TRUE(messages);
    ASSERT_EQ(messages->size(), 1u);
    EXPECT_EQ(messages->front().xid, 48);
}

TEST(Log, OfThisMachine_IsReadOrNotKnown_AndKeptBetweenReads) {
    const auto first = read_kernel_log({}), second = read_kernel_log({});
    ASSERT_EQ(first.has_value(), second.has_value());
    if (!first) return;
    EXPECT_GE(second->size(), first->size());
}

}  // namespace
}  // namespace ringscope::health
