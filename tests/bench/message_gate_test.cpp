// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/message_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "base/time.hpp"
#include "tests/bootstrap/forwarding.hpp"

namespace ringscope::bench {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;

constexpr std::int64_t ms = 1'000'000, hour = 3'600'000 * ms;

class MessageModes : public testing::TestWithParam<StartMode> {};

TEST_P(MessageModes, NobodyStartsBeforeTheLastArrives) {
    for (const int ranks : {1, 2, 3, 5, 8}) {
        constexpr int rounds = 20;
        std::array<std::atomic<int>, rounds> arrived{};
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            const clock::Clocks clocks{bootstrap};
            MessageGate gate{bootstrap, GetParam(), true, clocks};
            std::minstd_rand random{static_cast<unsigned>(bootstrap.rank()) + 1};
            for (auto& round : arrived) {
                std::this_thread::sleep_for(std::chrono::microseconds{random() % 1000});
                ++round;
                (void)gate.pass();
                EXPECT_EQ(round, ranks);
                EXPECT_EQ(gate.share(bootstrap.rank() + 7), 7);
                gate.finish();
            }
        });
    }
}

INSTANTIATE_TEST_SUITE_P(
    MessageGate, MessageModes, testing::Values(StartMode::window, StartMode::barrier),
    [](const auto& test) { return test.param == StartMode::window ? "window" : "barrier"; }
);

TEST(MessageGate, Automatic_IsAWindowWhereRanksHaveCoresOfTheirOwn) {
    run_as_threads(1, [](Bootstrap& bootstrap) {
        const clock::Clocks clocks{bootstrap};
        EXPECT_TRUE(MessageGate(bootstrap, StartMode::automatic, false, clocks).uses_window());
        EXPECT_FALSE(MessageGate(bootstrap, StartMode::automatic, true, clocks).uses_window());
    });
}

/// A host that hears of each start 3 ms after it was announced.
class FarHost final : public bootstrap::Forwarding {
 public:
    using Forwarding::Forwarding;
    void broadcast(std::string& bytes, int root) override {
        Forwarding::broadcast(bytes, root);
        if (rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds{3});
    }
};

/// The lead begins at 0.2 ms and doubles: 0.4, 0.8, 1.6, 3.2, and more where the machine is busy.
TEST(MessageGate, RankThatIsLateSaysSo_AndStartsAreAnnouncedFurtherAhead) {
    run_as_threads(2, [](Bootstrap& threads) {
        FarHost bootstrap{threads};
        const clock::Clocks clocks{bootstrap};
        MessageGate gate{bootstrap, StartMode::window, false, clocks};
        int late = 0;
        while (late < 20) {
            const std::string passed = gate.pass() ? "" : "late";
            if (bootstrap.all_gather(passed)[1].empty()) break;
            ++late;
        }
        EXPECT_GE(late, 4);
        EXPECT_LT(late, 20);
    });
}

/// Rank 1 takes its clock to be an hour behind that of rank 0, which it is not: on that clock each start was
/// an hour ago.
TEST(MessageGate, RankFindsTheMomentOnAClockOfItsOwn) {
    run_as_threads(2, [](Bootstrap& bootstrap) {
        clock::ClockOptions options;
        options.on_host.rounds = 100;
        if (bootstrap.rank() == 1) options.on_host.clock = [] { return now_ns() - hour; };
        clock::Clocks clocks{bootstrap, options};
        (void)clocks.compare();
        MessageGate gate{bootstrap, StartMode::window, false, clocks};
        const bool passed = gate.pass();
        if (bootstrap.rank() == 1) {
            EXPECT_FALSE(passed);
        }
    });
}

/// There is no other way to meet than that which did not answer.
TEST(MessageGate, NothingIsRecovered) {
    run_as_threads(2, [](Bootstrap& bootstrap) {
        const clock::Clocks clocks{bootstrap};
        EXPECT_EQ(MessageGate(bootstrap, StartMode::barrier, false, clocks).recover(1000), std::nullopt);
    });
}

}  // namespace
}  // namespace ringscope::bench
