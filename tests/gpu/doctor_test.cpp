// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "doctor/examine.hpp"
#include "doctor/findings.hpp"
#include "doctor/gpu_work.hpp"
#include "health/reading.hpp"
#include "tests/gpu/support.hpp"

namespace ringscope::gpu {
namespace {

std::set<std::string> visible_gpus() {
    std::string reason;
    std::set<std::string> addresses;
    for (int device = 0; device < cuda::device_count(reason); ++device)
        addresses.insert(health::pci_address(cuda::device_info(device).pci_id));
    return addresses;
}

class Doctor : public OnGpu {};

TEST_F(Doctor, EveryVisibleGpuWorksUnderLoad) {
    const doctor::Load load;
    EXPECT_EQ(load.gpus(), visible_gpus());
}

TEST_F(Doctor, AllPairsWork_OrTheDriverSaysThatTheyDoNot) {
    const auto test = doctor::test_pairs();
    if (visible_gpus().size() < 2) {
        EXPECT_FALSE(test);
        return;
    }
    ASSERT_TRUE(test);
    EXPECT_EQ(test->gpus, static_cast<int>(visible_gpus().size()));
    EXPECT_EQ(test->fault, "");
    EXPECT_EQ(test->inconclusive, "");
}

TEST_F(Doctor, VisitTakesLessThanFiveSeconds) {
    const auto begin = std::chrono::steady_clock::now();
    const doctor::Examination found = doctor::examine({.pair_test = false});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
    EXPECT_EQ(found.circumstances.loaded, visible_gpus());
    for (const std::string& gpu : visible_gpus()) {
        ASSERT_NE(found.later.pci.find(gpu), nullptr) << gpu;
        EXPECT_TRUE(found.later.pci.find(gpu)->now.known()) << gpu;
    }
}

TEST_F(Doctor, NvmlKnowsEveryVisibleGpu) {
    for (const std::string& gpu : visible_gpus()) {
        const health::Reading reading = health::read_device(gpu, {});
        EXPECT_GT(reading.link_width, 0) << gpu;
        EXPECT_GT(reading.path_gbps, 0) << gpu;
        EXPECT_GT(reading.sm_clock_mhz, 0) << gpu;
        EXPECT_GT(reading.temperature_c, 0) << gpu;
        EXPECT_GT(reading.power_w, 0) << gpu;
    }
}

}  // namespace
}  // namespace ringscope::gpu
