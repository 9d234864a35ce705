// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/health/fake_machine.hpp"

namespace ringscope::health {
namespace {

GpuState full() {
    return {
        .pci_id = "0000:3b:00.0",
        .name = "NVIDIA H200",
        .uuid = "GPU-1",
        .sm_clock_mhz = 1980,
        .most_sm_clock_mhz = 1981,
        .throttle = {"idle", "power_cap"},
        .throttled_ns = 5'000'000'000,
        .temperature_c = 40,
        .power_w = 99.5,
        .power_limit_w = 600,
        .most_power_limit_w = 700,
        .ecc_corrected = 1,
        .ecc_uncorrected = 2,
        .rows_pending = true,
        .rows_failed = false,
        .persistence = true,
        .mig = false,
        .compute_mode = "default",
        .nvlinks = 18,
        .active_nvlinks = 17};
}

TEST(Json, KeepsEveryField) {
    EXPECT_EQ(gpus_of_json(gpus_as_json({full(), GpuState{}})), (std::vector{full(), GpuState{}}));
}

TEST(Json, FieldsLeftOut_AreNotKnown) {
    const std::vector<GpuState> gpus = gpus_of_json(R"([{"pci_id": "0000:3b:00.0"}])");
    ASSERT_EQ(gpus.size(), 1u);
    EXPECT_EQ(gpus[0].nvlinks, -1);
    EXPECT_EQ(gpus[0].mig, std::nullopt);
}

TEST(Json, OtherTextIsRefused) {
    for (const char* text : {"", "{", "[1]", R"([{"nvlinks": "many"}])"}) {
        try {
            (void)gpus_of_json(text);
            ADD_FAILURE() << text;
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::usage);
        }
    }
}

TEST(Gpus, OfARecording) {
    FakeMachine machine;
    EXPECT_TRUE(read_gpus(machine.sources()).empty());
    EXPECT_EQ(read_vitals(machine.sources(), "0000:3b:00.0"), std::nullopt);
    machine.gpus({full()});
    EXPECT_EQ(read_gpus(machine.sources()), std::vector{full()});
    EXPECT_EQ(read_vitals(machine.sources(), "00000000:3B:00.0"), full());
    EXPECT_EQ(read_vitals(machine.sources(), "0000:3c:00.0"), std::nullopt);
}

TEST(Gpus, OfThisMachine_AreWhole) {
    for (const GpuState& gpu : read_gpus({})) {
        EXPECT_THAT(gpu.pci_id, testing::MatchesRegex("[0-9a-f]+:[0-9a-f]{2}:[0-9a-f]{2}\\.0"));
        EXPECT_FALSE(gpu.name.empty());
        EXPECT_GT(gpu.most_sm_clock_mhz, 0);
        EXPECT_LE(gpu.active_nvlinks, gpu.nvlinks);
        ASSERT_TRUE(read_vitals({}, gpu.pci_id));
        EXPECT_GT(read_vitals({}, gpu.pci_id)->sm_clock_mhz, 0);
    }
}

}  // namespace
}  // namespace ringscope::health
