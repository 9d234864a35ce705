// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doctor/machines.hpp"

namespace ringscope::doctor {
namespace {

using health::GpuState;
using testing::AllOf;
using testing::HasSubstr;

/// The findings of a healthy machine whose first GPU was changed; both at work or none.
std::vector<Finding> found_after(const std::function<void(GpuState&)>& change, bool loaded = false) {
    Machine machine;
    const System before = read_system(machine.sources());
    std::vector<GpuState> gpus = Machine::healthy_gpus();
    change(gpus[0]);
    machine.gpus(gpus);
    return findings_after(before, machine, loaded);
}
Ids ids_of_gpu(const std::function<void(GpuState&)>& change, bool loaded = false) {
    return ids_of(found_after(change, loaded));
}

TEST(Xid, OfTheMachine_IsHarm) {
    Machine machine;
    machine.file(
        "/dev/kmsg",
        "4,1,2,-;NVRM: Xid (PCI:0000:3d:00): 79, pid=1, GPU has fallen off the bus.\n"
        "4,2,3,-;NVRM: Xid (PCI:0000:3d:00): 79, pid=2, GPU has fallen off the bus.\n"
    );
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm xid"}));
    EXPECT_EQ(found[0].where, Machine::gpu[0]);
    EXPECT_THAT(found[0].evidence, AllOf(HasSubstr("Xid 79, 2 in"), HasSubstr("fallen off the bus")));
}

TEST(Xid, OfAProgram_IsANote) {
    Machine machine;
    machine.file("/dev/kmsg", "NVRM: Xid (PCI:0000:3d:00): 31, pid=1, MMU Fault\n");
    EXPECT_EQ(ids_at_rest(machine), (Ids{"note xid"}));
}

TEST(Memory, ByWhatIsWrongWithIt) {
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.ecc_uncorrected = 1; }), (Ids{"harm ecc"}));
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.ecc_corrected = 1; }), (Ids{"note ecc"}));
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.rows_pending = true; }), (Ids{"harm remapped-rows"}));
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.rows_failed = true; }), (Ids{"harm remapped-rows"}));
}

TEST(Throttling, ByItsReason) {
    for (const char* reason : {"thermal", "hardware_thermal", "power_brake", "hardware_slowdown"})
        EXPECT_EQ(ids_of_gpu([&](GpuState& gpu) { gpu.throttle = {reason}; }, true), (Ids{"harm throttled"}))
            << reason;
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.throttle = {"power_cap"}; }, true), (Ids{"note throttled"}));
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.throttled_ns = 5; }), (Ids{"note throttled"}));
    EXPECT_EQ(
        ids_of_gpu(
            [](GpuState& gpu) {
                gpu.throttle = {"application_clocks", "sync_boost"};
            },
            true
        ),
        Ids{}
    );
}

TEST(Throttling, SaysHowHotAndWhy) {
    const std::vector<Finding> found = found_after([](GpuState& gpu) { gpu.throttle = {"thermal"}; }, true);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].evidence, "clocks are held down (thermal), 35 C, 80 W, limit 700 W");
}

TEST(Clocks, AreJudgedWhileMultiprocessorsWork) {
    const auto at = [](int mhz, std::vector<std::string> reasons) {
        return [=](GpuState& gpu) {
            gpu.sm_clock_mhz = mhz;
            gpu.throttle = reasons;
        };
    };
    EXPECT_EQ(ids_of_gpu(at(1200, {}), true), (Ids{"harm clocks"}));
    EXPECT_EQ(ids_of_gpu(at(1700, {"application_clocks"}), true), (Ids{"note clocks"}));
    EXPECT_EQ(ids_of_gpu(at(1900, {}), true), Ids{}) << "within a tenth";
    EXPECT_EQ(ids_of_gpu(at(345, {}), false), Ids{}) << "at rest";
    EXPECT_EQ(ids_of_gpu(at(345, {"idle"}), true), Ids{}) << "copy engines alone work";
    EXPECT_EQ(ids_of_gpu(at(345, {"thermal"}), true), (Ids{"harm throttled"})) << "one cause, one finding";
}

TEST(Settings, EachById) {
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.mig = true; }), (Ids{"harm mig"}));
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.compute_mode = "prohibited"; }), (Ids{"harm compute-mode"}));
    EXPECT_EQ(
        ids_of_gpu([](GpuState& gpu) { gpu.compute_mode = "exclusive_process"; }), (Ids{"note compute-mode"})
    );
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu.persistence = false; }), (Ids{"note persistence"}));
}

TEST(Nvlink, OneThatIsDown_IsHarm) {
    Machine machine;
    std::vector<GpuState> gpus = Machine::healthy_gpus();
    for (GpuState& gpu : gpus) gpu.nvlinks = gpu.active_nvlinks = 18;
    gpus[1].active_nvlinks = 17;
    machine.gpus(gpus);
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"harm nvlink-down"}));
    EXPECT_EQ(found[0].where, Machine::gpu[1]);
    EXPECT_EQ(found[0].evidence, "17 of 18 NVLinks are active; others of its kind have 18");
}

TEST(Nvlink, CardsWithFewerBridgesThanTheyHaveRoomFor_AreANote) {
    Machine machine;
    std::vector<GpuState> gpus = Machine::healthy_gpus();
    for (GpuState& gpu : gpus) {
        gpu.nvlinks = 18;
        gpu.active_nvlinks = 12;
    }
    machine.gpus(gpus);
    const std::vector<Finding> found = findings_at_rest(machine);
    ASSERT_EQ(ids_of(found), (Ids{"note nvlink-down"}));
    EXPECT_EQ(found[0].where, "0000:3d:00.0, 0000:5d:00.0");
}

TEST(Gpu, OfWhichNothingIsKnown_HasNoFinding) {
    EXPECT_EQ(ids_of_gpu([](GpuState& gpu) { gpu = {.pci_id = gpu.pci_id}; }, true), Ids{});
}

Ids ids_of_pairs(const PairTest& test) {
    return ids_at_rest(Machine{}, {.pairs = test});
}

TEST(Pairs, ThatWork_AreNoFinding) {
    EXPECT_EQ(ids_of_pairs({.gpus = 2}), Ids{});
}

TEST(Pairs, ThatTheDriverPromisesAndDoNotWork_AreHarm) {
    const std::string fault = "what the GPU of rank 0 writes does not arrive at that of rank 1";
    const PairTest test{.gpus = 2, .fault = fault};
    const std::vector<Finding> found = findings_at_rest(Machine{}, {.pairs = test});
    ASSERT_EQ(ids_of(found), (Ids{"harm peer-access"}));
    EXPECT_EQ(found[0].evidence, fault);
}

TEST(Pairs, ThatTheDriverDoesNotPromise_AreANote) {
    EXPECT_EQ(ids_of_pairs({.gpus = 2, .unclaimed = {"GPU 0 to 1"}}), (Ids{"note peer-access"}));
}

TEST(Pairs, ThatCouldNotBeTested_AreANote) {
    EXPECT_EQ(ids_of_pairs({.gpus = 2, .inconclusive = "out of memory"}), (Ids{"note peer-access"}));
}

}  // namespace
}  // namespace ringscope::doctor
