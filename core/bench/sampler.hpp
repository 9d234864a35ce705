// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/case_buffers.hpp"
#include "bench/event_store.hpp"
#include "bench/prepare.hpp"
#include "bench/rank_result.hpp"
#include "bench/sample_plan.hpp"
#include "bench/start_gate.hpp"
#include "clock/line.hpp"
#include "trace/rows.hpp"

namespace ringscope::bench {

/// Runs the iterations of one case on one rank: cold, warm-up, then timed and traced ones in blocks. Each one
/// has data of its own, starts together with the other ranks, and is verified before the next. What it stamps
/// is on rank 0's clock.
class Sampler {
 public:
    Sampler(
        const Case& point, const Experiment& experiment, PreparedCase& prepared,
        std::unique_ptr<CaseBuffers> buffers, StartGate& gate, int rank, EventStore& store,
        const clock::Line& clock = {}
    );

    /// Events go to the store.
    [[nodiscard]] RankResult run();
    /// The samples that there are, where run() threw.
    [[nodiscard]] std::span<const trace::SampleRow> samples() const { return result_.samples; }

 private:
    void run_cold();
    void run_warm();
    [[nodiscard]] std::int64_t most_operations();
    [[nodiscard]] std::int64_t operations_for_timer() const;
    void sample(const PlannedSample& planned);
    [[nodiscard]] trace::SampleState state_of(const trace::SampleRow& row, bool in_time) const;
    void check(std::int64_t ops, std::uint64_t seed, trace::SampleRow& row);
    void keep_events();
    void keep(std::int64_t iteration, std::span<const engine::RawEvent> events);

    const Case& point_;
    const Experiment& experiment_;
    PreparedCase& prepared_;
    std::unique_ptr<CaseBuffers> buffers_;
    StartGate& gate_;
    int rank_;
    EventStore& store_;
    clock::Line clock_;  ///< this rank's by that of rank 0
    /// A traced sample whose events are still in the log.
    struct Pending {
        std::int64_t iteration;
        std::size_t first, end;
    };
    engine::EventLog events_{0};
    std::int64_t events_of_sample_ = 0, log_capacity_ = 0;
    std::vector<Pending> pending_;
    RankResult result_;
};

/// Rows that the traced iterations of a case give on a rank, where each is of `ops` operations.
[[nodiscard]] std::int64_t expected_events(
    const Experiment& experiment, const PreparedCase& prepared, int rank, std::int64_t ops
);

}  // namespace ringscope::bench
