// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>
#include <tuple>

#include "machine/host.hpp"
#include "machine/survey.hpp"

// The survey on ranks as threads: what it gives, not how fast this machine is.
namespace ringscope::machine {
namespace {

using bootstrap::Bootstrap;
using engine::host::HostEngine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Body = std::function<void(Bootstrap&, HostEngine&)>;

void on_ranks(int ranks, bool oversubscribed, const Body& body) {
    bootstrap::run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        HostEngine host{bootstrap, {.wait_ns = 20'000'000'000, .oversubscribed = oversubscribed}};
        body(bootstrap, host);
        bootstrap.barrier();
    });
}

Survey survey_on(int ranks, bool oversubscribed) {
    Survey result;
    on_ranks(ranks, oversubscribed, [&](Bootstrap& bootstrap, HostEngine& host) {
        Survey mine = survey(bootstrap, {.host = host, .cuda = nullptr, .names = {"host-shm", "mpi"}});
        if (bootstrap.rank() == 0) {
            result = std::move(mine);
        } else {
            EXPECT_THAT(mine.rows, IsEmpty());
        }
    });
    return result;
}

TEST(Survey, EveryOrderedPairAndSize_HasARow) {
    const Survey result = survey_on(3, true);
    std::set<std::tuple<int, int, std::int64_t>> seen;
    for (const trace::MachineRow& row : result.rows) {
        EXPECT_EQ(row.engine, "host-shm");
        EXPECT_NE(row.src, row.dst);
        EXPECT_GT(row.bandwidth, 0);
        EXPECT_GT(row.reduction_rate, 0);
        EXPECT_TRUE(std::isnan(row.copy_engine_bandwidth)) << "there is none on the host";
        EXPECT_EQ(row.latency_ns, trace::not_available);
        EXPECT_TRUE(seen.emplace(row.src, row.dst, row.bytes).second) << "twice";
    }
    for (const std::int64_t bytes : {4096, 65536, 1 << 20}) {
        for (const auto& [src, dst] : {std::pair{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}})
            EXPECT_TRUE(seen.contains({src, dst, bytes})) << src << "->" << dst << " " << bytes;
    }
}

TEST(Survey, RanksThatShareCores_HaveNoLatencies) {
    const Survey result = survey_on(2, true);
    ASSERT_THAT(result.facts, SizeIs(1));
    EXPECT_EQ(result.facts[0].name, "machine.host-shm.left_out");
    EXPECT_THAT(result.facts[0].value, HasSubstr("latencies, for ranks share cores"));
}

TEST(Survey, Latency_IsInARowOfItsOwn) {
    const Survey result = survey_on(2, false);
    EXPECT_THAT(result.facts, IsEmpty());
    int latencies = 0;
    for (const trace::MachineRow& row : result.rows) {
        EXPECT_EQ(row.latency_ns > 0, row.bytes == 8);
        EXPECT_EQ(std::isnan(row.bandwidth), row.bytes == 8);
        if (row.bytes == 8) ++latencies;
    }
    EXPECT_EQ(latencies, 2);
}

TEST(Survey, OneRank_HasNothingToMeasure) {
    const Survey result = survey_on(1, false);
    EXPECT_THAT(result.rows, IsEmpty());
    EXPECT_THAT(result.facts, IsEmpty());
}

/// The reduction rate of a row is the receiver's.
TEST(Figures, Rows_ComeFromBothEnds) {
    bootstrap::run_as_threads(2, [](Bootstrap& bootstrap) {
        const int rank = bootstrap.rank();
        const Figures mine{
            {{.src = rank, .dst = 1 - rank, .bytes = 64, .bandwidth = 10.0 + rank}}, {{64, 100.0 + rank}}};
        const std::vector<trace::MachineRow> rows = gather_rows(bootstrap, "host-shm", mine);
        if (rank == 1) {
            EXPECT_THAT(rows, IsEmpty());
        } else {
            ASSERT_THAT(rows, SizeIs(2));
            EXPECT_EQ(rows[0].src, 0);
            EXPECT_EQ(rows[0].bandwidth, 10);
            EXPECT_EQ(rows[0].reduction_rate, 101);
            EXPECT_EQ(rows[1].bandwidth, 11);
            EXPECT_EQ(rows[1].reduction_rate, 100);
        }
        bootstrap.barrier();
    });
}

/// What another rank says by the abort word ends the survey; no rank waits for its time to be up.
TEST(Survey, AbortWord_EndsIt) {
    EXPECT_THROW(
        on_ranks(
            2, false,
            [](Bootstrap& bootstrap, HostEngine& host) {
                host.control().abort.store(1);
                const Effort effort{.sizes = {4096}, .size_ns = 1'000'000};
                if (bootstrap.rank() == 1) (void)measure_host(bootstrap, host, effort);
                if (bootstrap.rank() == 0) {
                    // Takes part in making windows, and then does not answer.
                    const auto windows = transport::make_windows(bootstrap, 8192);
                    bootstrap.barrier();
                }
            }
        ),
        engine::host::StuckError
    );
}

/// Rank 1 stops in the last turn, its own, for which rank 0 has nothing more to do than to wait.
TEST(Survey, RankThatStopsInItsTurn_IsNamed) {
    const auto rank_1_stops = [](Bootstrap& bootstrap, HostEngine& host) {
        const Effort effort{.sizes = {4096}, .size_ns = 1'000'000};
        if (bootstrap.rank() == 0) (void)measure_host(bootstrap, host, effort);
        if (bootstrap.rank() == 1) {
            const auto windows = transport::make_windows(bootstrap, 8192);
            auto& turn = *reinterpret_cast<std::atomic<std::uint64_t>*>(windows->of(0));
            while (turn.load() != 1) std::this_thread::yield();  // 0 to 0
            turn.store(2);                                       // 1 to 0
            while (turn.load() != 3) std::this_thread::yield();  // 0 to 1
            host.control().abort.store(1);
            bootstrap.barrier();
        }
    };
    EXPECT_THAT(
        [&] { on_ranks(2, true, rank_1_stops); },
        testing::ThrowsMessage<engine::host::StuckError>(HasSubstr(
            "rank 0 waits for rank 1 to begin the operation (step 0, chunk 0), which does not answer"
        ))
    );
}

}  // namespace
}  // namespace ringscope::machine
