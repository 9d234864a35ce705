// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/clocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/bootstrap/forwarding.hpp"
#include "tests/clock/true_clock.hpp"
#include "tests/effort.hpp"

namespace ringscope::clock {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;

constexpr std::int64_t us = 1'000, ms = 1'000'000, second = 1'000'000'000, hour = 3600 * second;

/// Threads that say that they are on several hosts.
class PretendedHosts : public bootstrap::Forwarding {
 public:
    PretendedHosts(Bootstrap& inner, const std::vector<int>& host_of) : Forwarding{inner} {
        for (int rank = 0; rank < inner.size(); ++rank)
            if (host_of[static_cast<std::size_t>(rank)] == host_of[static_cast<std::size_t>(inner.rank())])
                local_ranks_.push_back(rank);
    }
    [[nodiscard]] const std::vector<int>& local_ranks() const override { return local_ranks_; }

 private:
    std::vector<int> local_ranks_;
};

/// A host of its own for every rank, in simulated time: messages carry the moment of their arrival. A way
/// takes 8 us and a tail that is longer back than there; one message in fifty is held up for milliseconds.
class SimulatedHost final : public PretendedHosts {
 public:
    SimulatedHost(Bootstrap& inner, const std::vector<int>& host_of, TrueClock clock, std::uint64_t seed)
        : PretendedHosts{inner, host_of},
          clock_{clock},
          random_{seed * 1000 + static_cast<std::uint64_t>(inner.rank())} {}

    void send(const std::string& bytes, int to) override {
        std::exponential_distribution<double> tail{to < rank() ? 1.0 / 12'000 : 1.0 / 3'000};
        std::uniform_int_distribution<std::int64_t> held_up{0, 49};
        std::int64_t arrival =
            now_ns_ + (to < rank() ? 12 : 4) * us + static_cast<std::int64_t>(tail(random_));
        if (held_up(random_) == 0) arrival += 4 * ms;
        PretendedHosts::send(std::to_string(arrival) + " " + bytes, to);
    }
    std::string receive(int from) override {
        const std::string message = PretendedHosts::receive(from);
        now_ns_ = std::max(now_ns_, static_cast<std::int64_t>(std::stoll(message)));
        return message.substr(message.find(' ') + 1);
    }
    [[nodiscard]] std::int64_t read() { return clock_.at(now_ns_ += 30); }
    void sleep(std::int64_t ns) { now_ns_ += ns; }

    [[nodiscard]] ClockOptions options() {
        ClockOptions options;
        options.messages = {[this] { return read(); }, [this](std::int64_t ns) { sleep(ns); }};
        options.thorough.series = 12;
        options.thorough.questions = 6;
        options.brief.series = 3;
        options.brief.questions = 6;
        return options;
    }

 private:
    TrueClock clock_;
    std::mt19937_64 random_;
    std::int64_t now_ns_ = 10 * second;
};

std::vector<TrueClock> true_clocks(int hosts, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::uniform_int_distribution<std::int64_t> offset{-5 * hour, 5 * hour};
    std::uniform_real_distribution<double> drift{-50e-6, 50e-6};
    std::vector<TrueClock> clocks;
    for (int host = 0; host < hosts; ++host) clocks.push_back({offset(random), drift(random)});
    return clocks;
}

/// What rank 0 has in the end: lines of all ranks, and what it was told in the last comparison.
struct Outcome {
    std::vector<TrueClock> truth;
    std::vector<Line> lines;
    std::vector<Comparison> last;
};

/// A first comparison, then brief ones after a second, four times.
Outcome simulated(int hosts, std::uint64_t seed) {
    Outcome outcome{true_clocks(hosts, seed), {}, {}};
    std::vector<int> host_of(static_cast<std::size_t>(hosts));
    for (int rank = 0; rank < hosts; ++rank) host_of[static_cast<std::size_t>(rank)] = rank;
    run_as_threads(hosts, [&](Bootstrap& bootstrap) {
        SimulatedHost host{
            bootstrap, host_of, outcome.truth[static_cast<std::size_t>(bootstrap.rank())], seed};
        Clocks clocks{host, host.options()};
        std::vector<Comparison> last = clocks.compare();
        for (int i = 0; i < 4; ++i) {
            host.sleep(second);
            last = clocks.keep_up();
        }
        if (host.rank() != 0) return;
        outcome.last = std::move(last);
        for (int rank = 0; rank < hosts; ++rank) outcome.lines.push_back(clocks.of(rank));
    });
    return outcome;
}

/// Whether the truth lies within the error of the line of this rank, then and later.
bool holds(const Outcome& outcome, std::size_t rank, const Line& line) {
    for (const std::int64_t later : {0 * second, 1 * second, 10 * second, 1000 * second}) {
        const std::int64_t reference_ns = outcome.lines[1].at_ns + later;
        const std::int64_t truth_ns = outcome.truth[rank].at(outcome.truth[0].when(reference_ns));
        if (std::abs(line.from_reference(reference_ns) - truth_ns) > line.error_at(reference_ns))
            return false;
    }
    return true;
}

class SimulatedHosts : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(
    Clocks, SimulatedHosts, testing::Values(2, 3, 5, 8), testing::PrintToStringParamName()
);

constexpr std::uint64_t seeds = sanitized ? 6 : 40;

TEST_P(SimulatedHosts, TruthLiesWithinTheError_NowAndLater) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Outcome outcome = simulated(GetParam(), seed);
        EXPECT_EQ(outcome.lines[0].error_ns, 0);
        for (std::size_t rank = 1; rank < outcome.lines.size(); ++rank) {
            const Line& line = outcome.lines[rank];
            EXPECT_TRUE(holds(outcome, rank, line)) << "seed " << seed << ", rank " << rank;
            // At most three hops, each with the least round trip of 16 us, half of it, and tails.
            EXPECT_LT(line.error_ns, 3 * 40 * us);
            EXPECT_LT(line.drift_error, 3 * 15e-6);
        }
    }
}

/// The clock of the neighbour in the tree is not that of rank 0, and a clock that drifts is not one that
/// stands.
TEST_P(SimulatedHosts, LinesThatForgetTheDrift_OrTheTree_AreFound) {
    int flat = 0, asked_by_another = 0, not_composed = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Outcome outcome = simulated(GetParam(), seed);
        for (std::size_t rank = 1; rank < outcome.lines.size(); ++rank) {
            Line mutant = outcome.lines[rank];
            mutant.drift = 0;
            flat += holds(outcome, rank, mutant) ? 0 : 1;
        }
        for (const Comparison& c : outcome.last) {
            if (c.peer == 0) continue;
            ++asked_by_another;
            not_composed += holds(outcome, static_cast<std::size_t>(c.rank), c.line) ? 0 : 1;
        }
    }
    EXPECT_GT(flat, static_cast<int>(seeds) / 2);
    EXPECT_EQ(not_composed, asked_by_another);
    EXPECT_EQ(asked_by_another > 0, GetParam() > 3);
}

TEST(Clocks, Tree_AsksEachOnce_InLog2Rounds) {
    EXPECT_EQ(asker_of(1), 0);
    EXPECT_EQ(asker_of(2), 0);
    EXPECT_EQ(asker_of(3), 2);
    EXPECT_EQ(asker_of(6), 4);
    EXPECT_EQ(asker_of(7), 6);
    for (const int hosts : {2, 3, 5, 8}) {
        const Outcome outcome = simulated(hosts, 1);
        std::vector<std::pair<int, int>> pairs, expected;
        for (int host = 1; host < hosts; ++host) expected.emplace_back(host, asker_of(host));
        for (const Comparison& c : outcome.last)
            if (!c.exchanges.empty()) pairs.emplace_back(c.rank, c.peer);
        EXPECT_EQ(pairs, expected);
    }
}

/// Real clocks and messages: two hosts whose clocks differ by an hour and 50 millionths, two ranks on each,
/// the last of which is in a time namespace 7 s behind.
TEST(Clocks, RanksOfAHost_GoByItsFirst) {
    const std::vector<int> host_of{0, 1, 0, 1};
    const std::int64_t begin_ns = now_ns();
    const auto clock_of = [&](int rank) {
        return TrueClock{
            (rank % 2 == 0 ? 0 : hour) - (rank == 3 ? 7 * second : 0), rank % 2 == 0 ? 0 : 50e-6};
    };
    run_as_threads(4, [&](Bootstrap& threads) {
        PretendedHosts bootstrap{threads, host_of};
        ClockOptions options;
        options.on_host.rounds = 200;
        options.thorough = {.series = 5, .questions = 20, .pause_ns = 5 * ms};
        options.on_host.clock = options.messages.clock = [&, own = clock_of(threads.rank())] {
            return own.at(now_ns() - begin_ns);
        };
        Clocks clocks{bootstrap, options};
        EXPECT_TRUE(clocks.span_hosts());
        const std::vector<Comparison> compared = clocks.compare();
        const std::int64_t reference_ns = now_ns() - begin_ns;
        for (int rank = 0; rank < 4; ++rank) {
            const Line& line = clocks.of(rank);
            EXPECT_LE(
                std::abs(line.from_reference(reference_ns) - clock_of(rank).at(reference_ns)),
                line.error_at(reference_ns)
            ) << rank;
        }
        EXPECT_EQ(clocks.of(2).offset_ns, 0);
        if (threads.rank() != 0) return;
        std::vector<std::pair<int, int>> pairs;
        for (const Comparison& c : compared) pairs.emplace_back(c.rank, c.peer);
        EXPECT_THAT(
            pairs, testing::ElementsAre(
                       testing::Pair(0, 0), testing::Pair(1, 0), testing::Pair(2, 0), testing::Pair(3, 1),
                       testing::Pair(3, 0)
                   )
        );
    });
}

}  // namespace
}  // namespace ringscope::clock
