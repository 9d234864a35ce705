// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/examine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "doctor/describe.hpp"
#include "tests/doctor/machines.hpp"

namespace ringscope::doctor {
namespace {

namespace fs = std::filesystem;

Ids ids_of(const Examination& found) {
    return doctor::ids_of(findings(found.idle, found.later, found.circumstances));
}

/// A machine at rest whose first GPU's link sleeps and wakes up under load.
void build_sleeper(Machine& machine) {
    machine.describe(Machine::gpu[0], gpu_at("2.5 GT/s PCIe", "16"));
    machine.describe(Machine::gpu[0], Machine::fast_gpu(0), "/loaded");
}

TEST(Recording, WithoutAnythingUnderLoad_IsAtRest) {
    Machine machine;
    machine.describe(Machine::gpu[0], gpu_at("2.5 GT/s PCIe", "16"));
    const Examination found = examine({.root = machine.path()});
    EXPECT_THAT(found.circumstances.loaded, testing::IsEmpty());
    ASSERT_EQ(ids_of(found), (Ids{"note pcie-speed"}));
}

TEST(Recording, WhatLiesOverItWasSeenUnderLoad) {
    Machine machine;
    build_sleeper(machine);
    const Examination found = examine({.root = machine.path()});
    EXPECT_THAT(found.circumstances.loaded, testing::ElementsAre(Machine::gpu[0], Machine::gpu[1]));
    EXPECT_EQ(ids_of(found), Ids{});
    EXPECT_EQ(found.idle.pci.find(Machine::gpu[0])->now.gigatransfers, 2.5);
}

TEST(Recording, NamesTheGpusThatWereLoaded) {
    Machine machine;
    build_sleeper(machine);
    machine.file("/loaded/gpus", std::string{Machine::gpu[0]} + "\n");
    machine.describe(Machine::gpu[1], gpu_at("2.5 GT/s PCIe", "16"));
    EXPECT_EQ(ids_of(examine({.root = machine.path()})), (Ids{"note pcie-speed"}))
        << "the other one may sleep";
}

TEST(Recording, OfARecording_IsTheSame) {
    Machine machine;
    build_sleeper(machine);
    machine.file("/dev/kmsg", "4,1,2,-;NVRM: Xid (PCI:0000:3d:00): 79, gone\n");
    machine.file("/sys/fs/cgroup/cpu.max", "400000 100000\n");
    machine.file("/sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
    machine.limits("64", "65536").file("/nccl.version", "2.29.2\n");
    const FakeMachine folder;
    const fs::path kept = folder.path() / "kept";
    const Examination first = examine({.root = machine.path(), .record = kept}),
                      second = examine({.root = kept});
    const auto json = [](const Examination& found) {
        return as_json(found, findings(found.idle, found.later, found.circumstances));
    };
    EXPECT_EQ(json(first), json(second));
    EXPECT_EQ(
        ids_of(second), (Ids{"harm xid", "harm cpu-quota", "harm memlock", "note version", "note open-files"})
    );
}

TEST(Tree, ThatChangesWhileItIsSampled_IsSeen) {
    Machine machine;
    std::thread changer{[&] {
        FakeDevice device = Machine::fast_gpu(0);
        for (int count = 1; count < 12; ++count) {
            std::this_thread::sleep_for(std::chrono::milliseconds{60});
            device.correctable = std::to_string(count);
            machine.describe(Machine::gpu[0], device);
        }
    }};
    const Examination found = examine({.root = machine.path()});
    changer.join();
    EXPECT_THAT(ids_of(found), testing::Contains("harm aer-errors"));
}

TEST(Visit, OfThisMachine_TakesLessThanFiveSeconds) {
    const auto begin = std::chrono::steady_clock::now();
    const Examination found = examine({.pair_test = false});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
    EXPECT_FALSE(found.later.host.cpus.empty());
    EXPECT_GT(found.later.host.memory_bytes, 0);
    EXPECT_GT(found.later.host.shm_bytes, 0);
}

TEST(Request, ThatCannotBeMet_IsRefused) {
    const auto code_of = [](const Request& request) {
        try {
            (void)examine(request);
        } catch (const Error& e) {
            return e.code();
        }
        return ExitCode::ok;
    };
    const Machine machine;
    EXPECT_EQ(code_of({.root = machine.path() / "nowhere"}), ExitCode::usage);
    EXPECT_EQ(code_of({.root = machine.path() / "nvml.json"}), ExitCode::usage);
    EXPECT_EQ(code_of({.root = machine.path(), .record = machine.path()}), ExitCode::output);
    EXPECT_EQ(
        code_of({.root = machine.path(), .record = machine.path() / "nvml.json" / "x"}), ExitCode::output
    );
}

}  // namespace
}  // namespace ringscope::doctor
