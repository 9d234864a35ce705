// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doctor/machines.hpp"

namespace ringscope::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Examination examined(const FakeMachine& machine) {
    return {
        .idle = read_system(machine.sources()), .later = read_system(machine.sources()), .circumstances = {}};
}

TEST(Text, SaysWhatTheMachineIs) {
    Machine machine;
    Examination found = examined(machine);
    found.circumstances = {.loaded = {Machine::gpu[0]}, .pairs = PairTest{.gpus = 2}};
    const std::string text = machine_as_text(found);
    EXPECT_THAT(text, HasSubstr("CPUs      32 of Example CPU, for this process: 0-31; 2 NUMA nodes\n"));
    EXPECT_THAT(text, HasSubstr("memory    503.5 GiB\n"));
    EXPECT_THAT(
        text,
        HasSubstr(
            "GPU       0000:3d:00.0 NVIDIA H200, NUMA node 0, PCIe 32 GT/s x16 (63.0 GB/s) under load, the "
            "card can do 32 GT/s x16 (63.0 GB/s)\n"
        )
    );
    EXPECT_THAT(text, HasSubstr("software  NVIDIA driver 580.95.05, NCCL not known\n"));
    EXPECT_THAT(text, HasSubstr("peers     2 GPUs: every ordered pair works, tested by kernels\n"));
    EXPECT_LE(std::ranges::count(text, '\n'), 12);
}

TEST(Text, OfAMachineOfWhichNothingIsKnown_SaysSo) {
    const std::string text = machine_as_text(examined(FakeMachine{}));
    EXPECT_THAT(
        text, AllOf(HasSubstr("Linux not known"), HasSubstr("GPUs      none\n"), HasSubstr("CPU quota none"))
    );
}

TEST(Text, OfFindings) {
    EXPECT_EQ(findings_as_text({}), "\nnothing found that hurts an all-reduce\n");
    EXPECT_EQ(
        findings_as_text({{Severity::harm, id::mig, "0000:3d:00.0", "MIG is on", "no peers", "turn it off"}}),
        "\nharm: mig at 0000:3d:00.0\n  MIG is on\n  effect: no peers\n  advice: turn it off\n"
    );
}

TEST(Json, HoldsTheSame) {
    Machine machine;
    machine.limits("64", "unlimited");
    const Examination found = examined(machine);
    const std::string text = as_json(found, findings(found.idle, found.later, {}));
    for (const char* part :
         {"\"id\": \"open-files\"", "\"severity\": \"note\"", "\"memlock_bytes\": \"unlimited\"",
          "\"open_files\": 64", "\"cpu_quota\": null", "\"pair_test\": null", "\"width\": 16",
          "\"name\": \"NVIDIA H200\""})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(Json, TakesBytesThatAreNoText) {
    Machine machine;
    machine.file("/dev/kmsg", "NVRM: Xid (PCI:0000:3d:00): 79, \xff\xfe\n");
    const Examination found = examined(machine);
    EXPECT_THAT(as_json(found, findings(found.idle, found.later, {})), HasSubstr("Xid 79"));
}

}  // namespace
}  // namespace ringscope::doctor
