// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "health/kernel_log.hpp"
#include "health/pci.hpp"
#include "health/reading.hpp"
#include "tests/health/fake_machine.hpp"

namespace ringscope::health {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Files, MissingOnes_AreNotKnown) {
    const FakeMachine machine;
    EXPECT_EQ(whole(machine.sources(), "/x"), std::nullopt);
    EXPECT_EQ(first_line(machine.sources(), "/x"), std::nullopt);
    EXPECT_EQ(last_line_with(machine.sources(), "/x", "y"), std::nullopt);
    EXPECT_THAT(names_in(machine.sources(), "/x"), IsEmpty());
    EXPECT_EQ(link_target(machine.sources(), "/x"), "");
}

TEST(Files, Lines) {
    FakeMachine machine;
    machine.file("/x", " one two \nthree: 3\n");
    EXPECT_EQ(first_line(machine.sources(), "/x"), "one two");
    EXPECT_EQ(line_beginning(machine.sources(), "/x", "three"), "three: 3");
    EXPECT_EQ(line_beginning(machine.sources(), "/x", "hree"), std::nullopt);
    EXPECT_EQ(last_line_with(machine.sources(), "/x", "two"), " one two ");
    EXPECT_EQ(last_line_with(machine.sources(), "/x", "e"), "three: 3");
}

TEST(Files, NumberAtTheBeginning) {
    EXPECT_EQ(number_in("12 kB"), 12);
    EXPECT_EQ(number_in("-1"), -1);
    EXPECT_EQ(number_in("many"), -1);
    EXPECT_EQ(number_in(std::nullopt), -1);
}

TEST(Overlay, LiesOverTheRoot) {
    FakeMachine machine;
    machine.file("/a", "idle\n").file("/b", "both\n").file("/loaded/a", "loaded\n");
    Sources loaded = machine.sources();
    loaded.overlay = machine.path() / "loaded";
    EXPECT_EQ(first_line(loaded, "/a"), "loaded");
    EXPECT_EQ(first_line(loaded, "/b"), "both");
}

/// A machine with a GPU, an error and a line that is nobody's business.
FakeMachine& build(FakeMachine& machine) {
    const std::string port = "0000:3a:00.0", gpu = "0000:3b:00.0";
    machine.device({port}, with_link({}, "16.0 GT/s PCIe", "16"))
        .device({port, gpu}, gpu_at("16.0 GT/s PCIe", "16"))
        .file("/sys/bus/pci/devices/" + port + "/config", config_space(2, 4))
        .file("/dev/kmsg", "6,1,2,-;a secret\n4,2,3,-;NVRM: Xid (PCI:0000:3b:00): 79, gone\n")
        .file("/proc/mounts", "server:/secret /home nfs rw 0 0\ntmpfs /dev/shm tmpfs rw,size=65536k 0 0\n")
        .gpus({{.pci_id = gpu, .name = "NVIDIA H200"}});
    return machine;
}

TEST(Recording, CanBeReadAsTheMachineItself) {
    FakeMachine machine, kept;
    Recording recording{kept.path()};
    Sources sources = build(machine).sources();
    sources.recording = &recording;
    const PciTree tree = PciTree::read(sources);
    (void)read_gpus(sources);
    (void)read_kernel_log(sources);
    const PciTree again = PciTree::read(kept.sources());
    ASSERT_EQ(again.devices().size(), 2u);
    EXPECT_EQ(again.links("0000:3b:00.0").at(0).now, (PciLink{16, 16}));
    EXPECT_EQ(again.find("0000:3a:00.0")->acs_redirect, true);
    EXPECT_EQ(read_gpus(kept.sources()), read_gpus(machine.sources()));
    EXPECT_EQ(read_kernel_log(kept.sources()), read_kernel_log(machine.sources()));
    EXPECT_EQ(read_device("0000:3b:00.0", kept.sources()), read_device("0000:3b:00.0", machine.sources()));
}

TEST(Recording, HoldsNoMoreThanWasAskedFor) {
    FakeMachine machine, kept;
    Recording recording{kept.path()};
    Sources sources = build(machine).sources();
    sources.recording = &recording;
    (void)last_line_with(sources, "/proc/mounts", " /dev/shm ");
    (void)last_line_with(sources, "/proc/mounts", "tmpfs");
    (void)read_kernel_log(sources);
    EXPECT_EQ(whole(kept.sources(), "/proc/mounts"), "tmpfs /dev/shm tmpfs rw,size=65536k 0 0\n");
    EXPECT_EQ(whole(kept.sources(), "/dev/kmsg"), "NVRM: Xid (PCI:0000:3b:00): 79, gone\n");
}

TEST(Recording, FolderThatTakesNothing_IsSaid) {
    FakeMachine machine;
    machine.file("/taken", "a file\n");
    Recording recording{machine.path() / "taken"};
    try {
        recording.keep("/proc/x", "y");
        ADD_FAILURE();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::output);
        EXPECT_THAT(e.what(), testing::HasSubstr("--record"));
    }
}

}  // namespace
}  // namespace ringscope::health
