// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/host_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "base/time.hpp"
#include "bootstrap/bootstrap.hpp"
#include "engine/host/engine.hpp"

namespace ringscope::bench {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;
using engine::host::Control;
using engine::host::Waiter;
using testing::HasSubstr;

constexpr std::int64_t ms = 1'000'000;

class Modes : public testing::TestWithParam<StartMode> {};

TEST_P(Modes, NobodyStartsBeforeTheLastArrives) {
    for (const int ranks : {1, 2, 3, 5, 8}) {
        constexpr int rounds = 20;
        Control control{};
        std::array<std::atomic<int>, rounds> arrived{};
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            const int rank = bootstrap.rank();
            HostGate gate{control, rank, ranks, GetParam(), Waiter{control, rank, 30'000 * ms, true}, true};
            std::minstd_rand random{static_cast<unsigned>(rank) + 1};
            for (auto& round : arrived) {
                std::this_thread::sleep_for(std::chrono::microseconds{random() % 1000});
                ++round;
                (void)gate.pass();
                EXPECT_EQ(round, ranks);
            }
            bootstrap.barrier();
        });
    }
}

TEST_P(Modes, RankThatDoesNotCome_IsNamedByTheOthers) {
    Control control{};
    std::atomic<int> named{0};
    run_as_threads(4, [&](Bootstrap& bootstrap) {
        const int rank = bootstrap.rank();
        HostGate gate{control, rank, 4, GetParam(), Waiter{control, rank, 200 * ms, true}, true};
        try {
            if (rank != 2) (void)gate.pass();
        } catch (const engine::host::StuckError& e) {
            EXPECT_THAT(e.what(), HasSubstr("waits for rank 2 to begin the operation"));
            EXPECT_THAT(e.what(), HasSubstr("which does not answer"));
            ++named;
        }
        bootstrap.barrier();
    });
    EXPECT_EQ(named, 3);
}

INSTANTIATE_TEST_SUITE_P(
    HostGate, Modes, testing::Values(StartMode::window, StartMode::barrier),
    [](const auto& test) { return test.param == StartMode::window ? "window" : "barrier"; }
);

TEST(HostGate, Automatic_IsAWindowWhereRanksHaveCoresOfTheirOwn) {
    Control control{};
    const Waiter waiter{control, 0, ms, false};
    EXPECT_TRUE(HostGate(control, 0, 1, StartMode::automatic, waiter, false).uses_window());
    EXPECT_FALSE(HostGate(control, 0, 1, StartMode::automatic, waiter, true).uses_window());
    EXPECT_TRUE(HostGate(control, 0, 1, StartMode::window, waiter, true).uses_window());
    EXPECT_FALSE(HostGate(control, 0, 1, StartMode::barrier, waiter, false).uses_window());
}

/// Rank 0 has announced a start, and rank 1 gets to look at it 5 ms after it.
TEST(HostGate, RankThatLooks5msLate_SaysSo) {
    Control control{};
    control.arrivals[0].rounds = 2;
    control.start_ns = now_ns() - 5 * ms;
    HostGate gate{control, 1, 2, StartMode::window, Waiter{control, 1, 1000 * ms, false}, false};
    EXPECT_FALSE(gate.pass());
    EXPECT_EQ(control.late, 1U);
}

TEST(HostGate, RankThatIsInTime_StartsAtTheAnnouncedTime) {
    Control control{};
    control.arrivals[0].rounds = 2;
    const std::int64_t start = now_ns() + 20 * ms;
    control.start_ns = start;
    HostGate gate{control, 1, 2, StartMode::window, Waiter{control, 1, 1000 * ms, false}, false};
    EXPECT_TRUE(gate.pass());
    EXPECT_GE(now_ns(), start);
    EXPECT_EQ(control.late, 0U);
}

/// Each start that somebody missed doubles the lead, from 20 us up to 5 ms.
TEST(HostGate, MissedStarts_AreAnnouncedFurtherAhead) {
    Control control{};
    control.arrivals[1].rounds = 1000;
    HostGate gate{control, 0, 2, StartMode::window, Waiter{control, 0, 1000 * ms, false}, false};
    for (const std::int64_t lead_us : {40, 80, 160, 320, 640, 1280, 2560, 5000, 5000}) {
        control.late = 1;
        const std::int64_t before = now_ns();
        (void)gate.pass();
        EXPECT_GE(control.start_ns - before, lead_us * 1000);
    }
}

}  // namespace
}  // namespace ringscope::bench
