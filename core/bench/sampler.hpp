// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "bench/case_buffers.hpp"
#include "bench/prepare.hpp"
#include "bench/rank_result.hpp"
#include "bench/start_gate.hpp"
#include "trace/rows.hpp"

namespace ringscope::bench {

/// Runs the iterations of one case on one rank: cold, warm-up, timed, traced. Each one has data of its own,
/// starts together with the other ranks, and is verified before the next.
class Sampler {
 public:
    Sampler(
        const Case& point, const Experiment& experiment, PreparedCase& prepared,
        std::unique_ptr<CaseBuffers> buffers, StartGate& gate, int rank
    );

    [[nodiscard]] RankResult run();

 private:
    struct Kind {
        trace::SampleState state = trace::SampleState::ok;
        bool traced = false;
        std::int64_t ops = 1;
    };

    void run_untraced();
    void run_traced();
    void sample(const Kind& kind);
    void check(std::int64_t ops, std::uint64_t seed, trace::SampleRow& row);
    void keep_events(std::int64_t iteration);

    const Case& point_;
    const Experiment& experiment_;
    PreparedCase& prepared_;
    std::unique_ptr<CaseBuffers> buffers_;
    StartGate& gate_;
    int rank_;
    engine::EventLog events_;
    RankResult result_;
};

/// Rows that the traced iterations of a case give on a rank.
[[nodiscard]] std::int64_t expected_events(
    const Experiment& experiment, const PreparedCase& prepared, int rank
);

}  // namespace ringscope::bench
