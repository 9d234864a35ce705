// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/runner.hpp"
#include "config/parse.hpp"
#include "tests/bench/support.hpp"
#include "tests/gpu/engine_support.hpp"

namespace ringscope::gpu {
namespace {

using testing::SizeIs;

class TraceOnGpu : public OnGpu {};

/// A whole experiment on ranks as threads that share the GPUs at hand: its cases as they are reported.
std::vector<trace::CaseRow> run(const std::string& text, int ranks, const bench::Tamper& tamper = {}) {
    const Experiment experiment = parse_experiment(
        text, "test.yaml", {bench::built_plugins().ids(), {"auto", "cuda-p2p", "cuda-staged"}}, {}
    );
    bench::KeepingReporter kept;
    CudaOptions options;
    options.wait_ns = experiment.timeout.wait_ns;
    bootstrap::run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        engine::host::HostEngine host{bootstrap, {.wait_ns = options.wait_ns, .oversubscribed = true}};
        CudaEngine cuda{bootstrap, host.control(), options};
        bench::Engines engines{host};
        engines.cuda = &cuda;
        if (tamper)
            engines.tamper = [&](const Case& point, schedule::Plan& plan) {
                tamper(bootstrap.rank(), point, plan);
            };
        bench::Watchdog watchdog{[](const std::string&) { std::abort(); }};
        bench::Runner runner{bootstrap, experiment, bench::built_plugins(),
                             engines,   watchdog,   {bootstrap.rank() == 0 ? &kept : nullptr, nullptr}};
        (void)runner.run(expand(experiment));
        bootstrap.barrier();
    });
    std::vector<trace::CaseRow> rows;
    for (const report::CaseSummary& summary : kept.cases) rows.push_back(summary.row);
    return rows;
}

/// In a graph each operation of a sample has rows of its own.
TEST_F(TraceOnGpu, Graph_HasTheRowsOfAllItsOperations) {
    const auto rows =
        run(R"(
version: 1
sweep: {algorithms: [ring-ll, ring-simple, two-shot, tree-simple], engines: [cuda-p2p], sizes: [4096, 300000]}
measure: {mode: [graph], iterations: 4, warmup: 1}
trace: {iterations: 3}
)",
            3);
    ASSERT_THAT(rows, SizeIs(8));
    for (const trace::CaseRow& row : rows) {
        EXPECT_EQ(row.status, trace::CaseStatus::ok) << row.algorithm << ": " << row.reason;
        EXPECT_EQ(row.events_written, row.events_expected) << row.algorithm;
        EXPECT_EQ(row.events_expected % (3 * 20), 0) << "3 graphs of 20 operations";
        EXPECT_EQ(row.causality_pairs, row.events_written / 2) << row.algorithm;
        EXPECT_EQ(row.causality_violations, 0) << row.reason;
    }
}

/// Kernels of one GPU read one clock, so the truth is known: no offset between ranks. Their questions must
/// say so within the error that they state.
TEST_F(TraceOnGpu, ClocksOfOneGpu_AreOneClockWithinTheError) {
    constexpr int ranks = 4;
    std::vector<std::int64_t> offset_ns(ranks), error_ns(ranks);
    std::vector<std::string> gpu(ranks);
    on_virtual_ranks(ranks, {}, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        const Trial trial{.id = "ring-ll", .count = 1000};
        const schedule::Plan plan = plan_of(trial, ranks);
        const std::int64_t bytes = 3 * trial.bytes() + 65536;
        auto prepared = engine.prepare({.plan = &plan, .bytes = trial.bytes(), .user_bytes = bytes});
        const engine::Operation operation{prepared.user_memory, prepared.user_memory + trial.bytes()};
        engine::EventLog events{schedule::events_per_operation(plan, bootstrap.rank())};
        prepared.collective->arm({&operation, 1}, &events);
        bootstrap.barrier();
        const engine::Timing timing = prepared.collective->sample_traced({&operation, 1}, events);
        const auto rank = static_cast<std::size_t>(bootstrap.rank());
        offset_ns[rank] = events.events().front().begin_ticks - events.events().front().begin_ns;
        error_ns[rank] = timing.events_error_ns;
        gpu[rank] = engine.gpus()[rank].uuid;
        bootstrap.barrier();
    });
    EXPECT_EQ(error_ns[0], 0) << "rank 0 is who the others are compared with";
    for (std::size_t rank = 1; rank < ranks; ++rank) {
        if (gpu[rank] == gpu[0]) {
            EXPECT_LE(std::abs(offset_ns[rank] - offset_ns[0]), error_ns[rank]) << rank;
        }
        EXPECT_GT(error_ns[rank], 0);
        EXPECT_LE(error_ns[rank], 2'000) << "a round trip within a GPU";
    }
}

/// Rank 1 never sends its message of step 3, in one of twelve cases.
TEST_F(TraceOnGpu, LostMessage_EndsItsCaseAlone) {
    for (const std::string engine : {"cuda-p2p", "cuda-staged"}) {
        const auto lose = [](int rank, const Case& point, schedule::Plan& plan) {
            if (point.index == 5 && rank == 1) bench::lose_message(plan, 1, 3);
        };
        const auto rows =
            run(R"(
version: 1
sweep: {algorithms: [ring-ll, ring-simple, tree-simple], engines: [)" +
                    engine + R"(], sizes: [1200, 4096, 65536, 262144]}
measure: {warmup: 1, iterations: 2}
timeout: {wait: 500ms}
)",
                3, lose);
        ASSERT_THAT(rows, SizeIs(12));
        for (std::size_t i = 0; i < rows.size(); ++i)
            EXPECT_EQ(rows[i].status, i == 5 ? trace::CaseStatus::timeout : trace::CaseStatus::ok)
                << i << ": " << rows[i].reason;
        EXPECT_THAT(
            rows[5].reason,
            testing::StartsWith("no progress for 500 ms (timeout.wait): rank 2 waits for data "
                                "from rank 1 at step 3, chunk ")
        );
    }
}

}  // namespace
}  // namespace ringscope::gpu
