// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/time.hpp"
#include "bench/host_gate.hpp"
#include "bench/sampler.hpp"
#include "tests/bench/support.hpp"
#include "trace/marks.hpp"

namespace ringscope::bench {
namespace {

using bootstrap::Bootstrap;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using trace::SampleState;

const std::string two_cases = R"(
version: 1
sweep:
  algorithms: [ring-simple]
  sizes: [4096]
measure: {warmup: 1, iterations: 3, mode: [isolated, back-to-back]}
trace: {iterations: 2}
)";

/// A ring that spoils rank 1's result, or its input, in one of its operations.
class Spoiling final : public engine::Collective {
 public:
    Spoiling(std::unique_ptr<engine::Collective> real, bool spoils_input, int operation)
        : real_{std::move(real)}, spoils_input_{spoils_input}, left_{operation} {}
    void arm(std::span<const engine::Operation> operations, engine::EventLog* traced) override {
        real_->arm(operations, traced);
    }
    engine::Timing sample(std::span<const engine::Operation> operations) override {
        const engine::Timing timing = real_->sample(operations);
        for (const auto& operation : operations) spoil(operation.input, operation.output);
        return timing;
    }
    engine::Timing sample_traced(std::span<const engine::Operation> operations, engine::EventLog& events)
        override {
        const engine::Timing timing = real_->sample_traced(operations, events);
        for (const auto& operation : operations) spoil(operation.input, operation.output);
        return timing;
    }

 private:
    void spoil(const std::byte* input, std::byte* output) {
        if (left_-- != 0) return;
        std::byte* target = spoils_input_ ? const_cast<std::byte*>(input) : output;
        target[100] ^= std::byte{1};
    }
    std::unique_ptr<engine::Collective> real_;
    bool spoils_input_;
    int left_;
};

using Wrap = std::function<void(int rank, PreparedCase&)>;

struct Sampled : RankResult {
    std::vector<trace::EventRow> events;
};

std::vector<Sampled> sample(const Experiment& experiment, std::size_t which, const Wrap& wrap = {}) {
    const std::vector<Case> cases = expand(experiment);
    std::vector<Sampled> results(2);
    bootstrap::run_as_threads(2, [&](Bootstrap& bootstrap) {
        const int rank = bootstrap.rank();
        engine::host::HostEngine host{bootstrap, {.wait_ns = 20'000'000'000, .oversubscribed = true}};
        Preparer preparer{bootstrap, built_plugins(), {host}};
        PreparedCase prepared =
            preparer.prepare(cases[which], operations_per_sample(cases[which], experiment, false));
        if (wrap) wrap(rank, prepared);
        HostGate gate{
            host.control(), rank, 2, StartMode::barrier, {host.control(), rank, 20'000'000'000, true}, true};
        verify::Verifier verifier{verify::Pattern{cases[which].dtype, cases[which].op, 2, experiment.verify}};
        auto buffers = std::make_unique<HostBuffers>(
            cases[which], std::move(verifier), rank, operations_per_sample(cases[which], experiment, false)
        );
        EventStore store{experiment.trace.max_events_in_memory, {}};
        Sampler sampler{cases[which], experiment, prepared, std::move(buffers), gate, rank, store};
        Sampled& result = results[static_cast<std::size_t>(rank)];
        static_cast<RankResult&>(result) = sampler.run();
        result.events = store.take(store.size());
        bootstrap.barrier();
    });
    return results;
}

std::vector<SampleState> states_of(const RankResult& result) {
    std::vector<SampleState> states;
    for (const trace::SampleRow& row : result.samples) states.push_back(row.state);
    return states;
}

TEST(Sampler, Isolated_ColdWarmupThenTracedBetweenTimed) {
    const Experiment experiment = experiment_of(two_cases);
    const auto results = sample(experiment, 0);
    for (int rank : {0, 1}) {
        const RankResult& result = results[static_cast<std::size_t>(rank)];
        EXPECT_THAT(
            states_of(result), ElementsAre(
                                   SampleState::cold, SampleState::warmup, SampleState::ok, SampleState::ok,
                                   SampleState::ok, SampleState::ok, SampleState::ok
                               )
        );
        EXPECT_FALSE(result.samples[3].traced || result.samples[6].traced);
        EXPECT_TRUE(result.samples[4].traced && result.samples[5].traced);
        EXPECT_EQ(result.wrong, 0);
        EXPECT_EQ(result.what, "");
        EXPECT_EQ(result.hashes, results[0].hashes);
        for (const trace::SampleRow& row : result.samples) {
            EXPECT_EQ(row.rank, rank);
            EXPECT_EQ(row.ops, 1);
            EXPECT_LT(row.enter_ns, row.exit_ns);
        }
    }
}

/// A ring of two: 3 ops with 4 messages per rank and iteration.
TEST(Sampler, TracedIterations_GiveTheirEventsInside) {
    const auto results = sample(experiment_of(two_cases), 0);
    for (const Sampled& result : results) {
        ASSERT_THAT(result.events, SizeIs(2 * 4));
        for (const trace::EventRow& e : result.events) {
            const trace::SampleRow& sample = result.samples[static_cast<std::size_t>(e.iteration)];
            EXPECT_TRUE(sample.traced);
            EXPECT_LE(sample.enter_ns, e.begin_ns);
            EXPECT_LE(e.end_ns, sample.exit_ns);
            EXPECT_EQ(e.payload_bytes, 2048);
            EXPECT_EQ(e.peer, 1 - e.rank);
        }
    }
}

TEST(Sampler, BackToBack_IsOneSampleOfAllOperations) {
    const auto results = sample(experiment_of(two_cases), 1);
    ASSERT_THAT(results[0].samples, SizeIs(5));
    EXPECT_EQ(results[0].samples[2].ops, 3);
    EXPECT_EQ(results[0].samples[2].state, SampleState::ok);
    EXPECT_FALSE(results[0].samples[2].traced);
}

TEST(Sampler, SmallEventLog_DropsAndCounts) {
    const auto results = sample(experiment_of(two_cases, {"trace.max_events_per_rank=5"}), 0);
    EXPECT_THAT(results[0].events, SizeIs(5));
    EXPECT_EQ(results[0].events_dropped, 3);
}

TEST(Sampler, WrongInOneTimedOperation_IsCaughtInThatOne) {
    const auto results = sample(experiment_of(two_cases), 0, [](int rank, PreparedCase& prepared) {
        if (rank == 1)
            prepared.collective = std::make_unique<Spoiling>(std::move(prepared.collective), false, 4);
    });
    EXPECT_EQ(results[0].wrong, 0);
    EXPECT_EQ(results[1].wrong, 1);
    EXPECT_THAT(results[1].what, HasSubstr("iteration 4, rank 1"));
    EXPECT_EQ(results[1].samples[3].state, SampleState::ok);
    EXPECT_EQ(results[1].samples[4].state, SampleState::verify_failed);
    EXPECT_NE(results[1].hashes[4], results[0].hashes[4]);
    EXPECT_EQ(results[1].hashes[5], results[0].hashes[5]);
}

TEST(Sampler, WrongInTheMiddleOfABatch_IsCaught) {
    const auto results = sample(experiment_of(two_cases), 1, [](int rank, PreparedCase& prepared) {
        if (rank == 0)
            prepared.collective = std::make_unique<Spoiling>(std::move(prepared.collective), false, 3);
    });
    EXPECT_EQ(results[0].samples[2].state, SampleState::verify_failed);
    EXPECT_EQ(results[0].wrong, 1);
}

TEST(Sampler, InputChanged_IsCaught) {
    const auto results = sample(experiment_of(two_cases), 0, [](int rank, PreparedCase& prepared) {
        if (rank == 1)
            prepared.collective = std::make_unique<Spoiling>(std::move(prepared.collective), true, 2);
    });
    EXPECT_EQ(results[1].samples[2].state, SampleState::verify_failed);
    EXPECT_THAT(results[1].what, HasSubstr("input"));
}

TEST(Runner, AllWell_ReportsEachCaseWithItsTime) {
    KeepingReporter reporter;
    const Outcome outcome = run_on_threads(experiment_of(two_cases), 2, {&reporter, nullptr});
    EXPECT_EQ(outcome.code, ExitCode::ok);
    EXPECT_EQ(outcome.first_fault, "");
    EXPECT_FALSE(outcome.lossy);
    EXPECT_EQ(outcome.traffic.cases_checked, 2);
    EXPECT_EQ(outcome.traffic.links_checked, 4);
    EXPECT_EQ(outcome.traffic.links_equal, 4);
    ASSERT_THAT(reporter.cases, SizeIs(2));
    for (const report::CaseSummary& summary : reporter.cases) {
        EXPECT_EQ(summary.row.status, trace::CaseStatus::ok);
        EXPECT_GT(summary.time_ns, 0);
        EXPECT_EQ(summary.busiest_link_bytes, 4096);
        EXPECT_EQ(summary.row.events_expected, 2 * 2 * 4);
        EXPECT_EQ(summary.row.events_written, 2 * 2 * 4);
    }
}

TEST(Runner, SingleRank_IsACopyWithoutTraffic) {
    KeepingReporter reporter;
    const Outcome outcome = run_on_threads(experiment_of(two_cases), 1, {&reporter, nullptr});
    EXPECT_EQ(outcome.code, ExitCode::ok);
    EXPECT_EQ(outcome.traffic.links_checked, 0);
    EXPECT_EQ(reporter.cases[0].busiest_link_bytes, 0);
}

TEST(Runner, DroppedEvents_AreLossy_NotWrong) {
    KeepingReporter reporter;
    const auto experiment = experiment_of(two_cases, {"trace.max_events_per_rank=5"});
    const Outcome outcome = run_on_threads(experiment, 2, {&reporter, nullptr});
    EXPECT_EQ(outcome.code, ExitCode::ok);
    EXPECT_TRUE(outcome.lossy);
    EXPECT_EQ(reporter.cases[0].row.events_dropped, 2 * 3);
    EXPECT_EQ(reporter.cases[0].row.events_written, 2 * 5);
}

/// Both directions of a pair of ranks, at one rate.
machine::Ceilings ceilings_of(double bytes_per_second, const std::string& engine = "host-shm") {
    std::vector<trace::MachineRow> rows;
    for (const std::int32_t src : {0, 1}) {
        rows.push_back(
            {.engine = engine,
             .src = src,
             .dst = 1 - src,
             .bytes = 1 << 20,
             .bandwidth = bytes_per_second,
             .copy_engine_bandwidth = trace::nan}
        );
    }
    return machine::Ceilings{rows};
}

TEST(Runner, CaseAboveTheCeilings_IsSuspectAndKept) {
    KeepingReporter reporter;
    const Outcome outcome =
        run_on_threads(experiment_of(two_cases), 2, {&reporter, nullptr}, {}, ceilings_of(1));
    EXPECT_EQ(outcome.code, ExitCode::ok);
    ASSERT_THAT(reporter.cases, SizeIs(2));
    for (const report::CaseSummary& summary : reporter.cases) {
        EXPECT_TRUE(trace::has_mark(summary.row, "suspect"));
        EXPECT_EQ(summary.row.status, trace::CaseStatus::ok);
        EXPECT_GT(summary.verified_time_ns(), 0);
        EXPECT_THAT(summary.row.reason, HasSubstr("whose link was measured at 0.00 GB/s"));
    }
}

TEST(Runner, CaseBelowTheCeilings_OrOfAnotherEngine_IsNotSuspect) {
    for (const machine::Ceilings& ceilings : {ceilings_of(1e15), ceilings_of(1, "cuda-p2p")}) {
        KeepingReporter reporter;
        (void)run_on_threads(experiment_of(two_cases), 2, {&reporter, nullptr}, {}, ceilings);
        ASSERT_THAT(reporter.cases, SizeIs(2));
        for (const report::CaseSummary& summary : reporter.cases) {
            EXPECT_FALSE(trace::has_mark(summary.row, "suspect"));
            EXPECT_EQ(summary.row.reason, "");
        }
    }
}

TEST(Runner, CaseThatWouldDeadlock_FailsAlone) {
    KeepingReporter reporter;
    const auto experiment = experiment_of(R"(
version: 1
sweep:
  algorithms:
    - {id: ring-simple, params: {slots: 2, slot_bytes: 4096}}
    - {id: ring-ll, params: {slots: 3, slot_bytes: 4096}}
  sizes: [65536]
measure: {warmup: 0, iterations: 1}
)");
    const Outcome outcome = run_on_threads(experiment, 3, {&reporter, nullptr});
    EXPECT_EQ(outcome.code, ExitCode::usage);
    EXPECT_THAT(outcome.first_fault, HasSubstr("deadlock with 2 slots"));
    ASSERT_THAT(reporter.cases, SizeIs(2));
    EXPECT_EQ(reporter.cases[0].row.status, trace::CaseStatus::failed);
    EXPECT_TRUE(std::isnan(reporter.cases[0].time_ns));
    EXPECT_EQ(reporter.cases[1].row.status, trace::CaseStatus::ok);
}

/// Rank 1 loses its message of step 3 in the sixth of twelve cases.
TEST(Runner, LostMessage_EndsItsCaseAlone) {
    const Experiment experiment = experiment_of(R"(
version: 1
sweep: {algorithms: [ring-ll, ring-simple, tree-simple], sizes: [1200, 4096, 65536, 262144]}
measure: {warmup: 1, iterations: 2}
timeout: {wait: 300ms}
)");
    for (const std::size_t lost_in : {1u, 5u}) {
        KeepingReporter reporter;
        const auto lose = [&](int rank, const Case& point, schedule::Plan& plan) {
            if (point.index == static_cast<std::int32_t>(lost_in) && rank == 1) lose_message(plan, 1, 3);
        };
        const Outcome outcome = run_on_threads(experiment, 3, {&reporter, nullptr}, lose);
        EXPECT_EQ(outcome.code, ExitCode::timeout);
        ASSERT_THAT(reporter.cases, SizeIs(12));
        for (std::size_t i = 0; i < reporter.cases.size(); ++i) {
            const trace::CaseRow& row = reporter.cases[i].row;
            EXPECT_EQ(row.status, i == lost_in ? trace::CaseStatus::timeout : trace::CaseStatus::ok) << i;
        }
        // Step 3 of a ring of three: rank 1 passes on chunk 2, which it has from rank 0, who reduced it.
        const std::string& reason = reporter.cases[lost_in].row.reason;
        EXPECT_THAT(
            reason, testing::StartsWith("no progress for 300 ms (timeout.wait): rank 2 waits for data from "
                                        "rank 1 at step 3, chunk ")
        );
        EXPECT_THAT(outcome.first_fault, HasSubstr(reason));
    }
}

/// A GPU for each rank; that of rank 1 has one PCIe error more from reading number `from` on, the first
/// being 0.
MakeProbe one_error_from(int from) {
    return [from](int rank) {
        return HealthProbe{.read = [rank, from, readings = 0]() mutable {
            const bool late = rank == 1 && readings++ >= from;
            return std::vector<trace::HealthRow>{
                {.device = "0000:17:00.0", .time_ns = now_ns(), .aer_correctable = late ? 1 : 0}};
        }};
    };
}

std::vector<std::string> marks_of(const KeepingReporter& reporter) {
    std::vector<std::string> marks;
    for (const report::CaseSummary& summary : reporter.cases)
        marks.emplace_back(trace::has_mark(summary.row, "aer-errors") ? "aer-errors" : "");
    return marks;
}

const std::string three_cases = R"(
version: 1
sweep: {algorithms: [ring-simple], sizes: [1200, 4096, 65536]}
measure: {warmup: 1, iterations: 2}
timeout: {wait: 300ms}
)";

TEST(Runner, ReadsTheMachineBeforeAfterEachCaseAndAtTheEnd) {
    const Experiment experiment = experiment_of(three_cases);
    const std::vector<std::vector<std::string>> expected{
        {"", "", ""}, {"aer-errors", "", ""}, {"", "aer-errors", ""}, {"", "", "aer-errors"}, {"", "", ""}};
    for (int from = 0; from < 5; ++from) {
        KeepingReporter reporter;
        const Outcome outcome =
            run_on_threads(experiment, 2, {&reporter, nullptr}, {}, {}, one_error_from(from));
        EXPECT_EQ(outcome.code, ExitCode::ok);
        EXPECT_EQ(marks_of(reporter), expected[static_cast<std::size_t>(from)]) << from;
        EXPECT_EQ(outcome.late_errors, from == 4 ? "0000:17:00.0: 1 more corrected PCIe errors" : "") << from;
    }
}

TEST(Runner, ReadsTheMachineAfterACaseThatFailed) {
    KeepingReporter reporter;
    const auto lose = [](int rank, const Case& point, schedule::Plan& plan) {
        if (point.index == 1 && rank == 1) lose_message(plan, 1, 1);
    };
    const Outcome outcome =
        run_on_threads(experiment_of(three_cases), 2, {&reporter, nullptr}, lose, {}, one_error_from(2));
    EXPECT_EQ(outcome.code, ExitCode::timeout);
    EXPECT_EQ(marks_of(reporter), (std::vector<std::string>{"", "aer-errors", ""}));
    EXPECT_EQ(reporter.cases.at(1).row.status, trace::CaseStatus::timeout);
    EXPECT_THAT(reporter.cases.at(1).row.reason, HasSubstr("no progress")) << "the reason stays";
}

TEST(Runner, MoreThanTheMemory_FailsBeforeItIsTaken) {
    const auto experiment =
        experiment_of("version: 1\nsweep: {algorithms: [ring-simple], sizes: [1048576GiB]}\n");
    const Outcome outcome = run_on_threads(experiment, 2, {});
    EXPECT_EQ(outcome.code, ExitCode::out_of_memory);
    EXPECT_THAT(outcome.first_fault, HasSubstr("this host has"));
}

}  // namespace
}  // namespace ringscope::bench
