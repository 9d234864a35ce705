// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/catalogue.hpp"

namespace ringscope::engine {
namespace {

using testing::ElementsAre;

std::vector<std::string> engines_with(Protocol protocol) {
    std::vector<std::string> names;
    for (const Engine& engine : engines()) {
        if (engine.has(protocol)) names.emplace_back(engine.name);
    }
    return names;
}

TEST(Catalogue, Engines_HaveTheirProtocols) {
    EXPECT_THAT(engines_with(Protocol::ll), ElementsAre("host-shm", "cuda-p2p", "cuda-staged"));
    EXPECT_THAT(engines_with(Protocol::ll128), ElementsAre("host-shm", "cuda-p2p"));
    EXPECT_THAT(
        engines_with(Protocol::simple), ElementsAre("host-shm", "cuda-p2p", "cuda-staged", "cuda-host-driven")
    );
}

TEST(Catalogue, WordsThatAreNoEngine_AreNotFound) {
    EXPECT_EQ(find_engine("cuda-stage"), nullptr);
    EXPECT_EQ(find_engine("auto"), nullptr);
    EXPECT_STREQ(find_engine("cuda-staged")->name, "cuda-staged");
    EXPECT_FALSE(find_engine("host-shm")->gpu);
    EXPECT_EQ(find_engine("cuda-host-driven")->gpu, cuda::GpuEngine::host_driven);
}

/// LL128 relies on what NVLink alone keeps together.
TEST(Catalogue, ProtocolsThatAnEngineHasNot_AreRefused) {
    EXPECT_THROW((void)format_on(*find_engine("cuda-staged"), Protocol::ll128), Error);
    EXPECT_THROW((void)format_on(*find_engine("cuda-host-driven"), Protocol::ll), Error);
    EXPECT_EQ(format_on(*find_engine("cuda-staged"), Protocol::ll).wire_bytes(1), 16);
}

TEST(Catalogue, DefaultSlots_HoldAPackAtLeast) {
    for (const Engine& engine : engines()) {
        for (const std::int64_t chunk : {std::int64_t{0}, std::int64_t{1} << 10, std::int64_t{1} << 30}) {
            for (const bool copy_engines : {false, true}) {
                const Defaults d = engine.defaults(
                    {.protocol = Protocol::simple, .chunk_bytes = chunk, .copy_engines = copy_engines}
                );
                EXPECT_GE(d.channels, 1) << engine.name;
                EXPECT_GE(d.slots, 2) << engine.name;
                EXPECT_GE(d.slot_bytes, 4096) << engine.name;
                EXPECT_EQ(d.slot_bytes % 16, 0) << engine.name;
            }
        }
    }
}

TEST(Catalogue, CopyEngines_PlayWhatIsLargeOrAsksForThem) {
    constexpr std::int64_t small = 1 << 20, large = 64 << 20;
    constexpr auto simple = Protocol::simple;
    EXPECT_FALSE(by_copy_engines(-1, simple, Mode::isolated, small));
    EXPECT_TRUE(by_copy_engines(-1, simple, Mode::isolated, large));
    EXPECT_FALSE(by_copy_engines(-1, simple, Mode::graph, large));
    EXPECT_FALSE(by_copy_engines(-1, Protocol::ll, Mode::isolated, large));
    EXPECT_TRUE(by_copy_engines(1, simple, Mode::isolated, small));
    EXPECT_FALSE(by_copy_engines(0, simple, Mode::isolated, large));
}

}  // namespace
}  // namespace ringscope::engine
