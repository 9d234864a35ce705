// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bench/ledger.hpp"
#include "bench/prepare.hpp"
#include "bench/sampler.hpp"
#include "bench/start_gate.hpp"
#include "bench/watchdog.hpp"
#include "report/reporter.hpp"
#include "trace/writer.hpp"

namespace ringscope::bench {

/// Where results go. Rank 0 has both (or no writer where no file was asked for), the other ranks neither.
struct Outputs {
    report::Reporter* reporter = nullptr;
    trace::TraceWriter* writer = nullptr;
};

/// Takes the cases of an experiment one after another from preparation to the stored result.
class Runner {
 public:
    Runner(
        bootstrap::Bootstrap& bootstrap, const Experiment& experiment, const plugin::PluginRegistry& registry,
        const Engines& engines, Watchdog& watchdog, Outputs outputs
    );

    /// Runs all cases. [collective] Returns the worst exit code of them, the same on all ranks. Throws
    /// StuckError when a peer does not answer; what was finished before is complete in the file.
    ExitCode run(const std::vector<Case>& cases);

    [[nodiscard]] const report::TrafficVerdict& traffic() const { return traffic_; }
    /// The first case that is not as it must be, in words; "" when there is none.
    [[nodiscard]] const std::string& first_fault() const { return first_fault_; }
    [[nodiscard]] bool lossy() const { return lossy_; }
    /// When the first operation of the run began and ended, for the cold-start ladder.
    [[nodiscard]] std::int64_t first_collective_ns() const { return first_collective_ns_; }

 private:
    void run_case(const Case& point);
    void measure(const Case& point, report::CaseSummary& summary);
    [[nodiscard]] std::vector<std::int32_t> members_of(const PreparedCase& prepared) const;
    [[nodiscard]] std::unique_ptr<CaseBuffers> make_buffers(const Case& point, const PreparedCase& prepared)
        const;
    void check_memory(const Case& point) const;
    [[nodiscard]] RankResult sample(const Case& point, PreparedCase& prepared);
    [[nodiscard]] std::vector<RankResult> gather_results(const RankResult& mine);
    void settle(
        const PreparedCase& prepared, const std::vector<RankResult>& results, report::CaseSummary& summary
    );
    [[nodiscard]] std::vector<trace::EventRow> count_events(
        const PreparedCase& prepared, const std::vector<RankResult>& results, trace::CaseRow& row
    ) const;
    void share_status(trace::CaseRow& row);
    void note_traffic(const report::CaseSummary& summary, const PreparedCase& prepared, const Ledger& ledger);
    void store(
        const report::CaseSummary& summary, const std::vector<RankResult>& results, const Ledger& ledger
    );
    void finish_case(const report::CaseSummary& summary);
    void end_stuck(report::CaseSummary& summary, const std::string& reason);

    bootstrap::Bootstrap& bootstrap_;
    const Experiment& experiment_;
    Engines engines_;
    Watchdog& watchdog_;
    Outputs outputs_;
    Preparer preparer_;
    StartGate gate_;
    report::TrafficVerdict traffic_;
    ExitCode worst_ = ExitCode::ok;
    bool any_ran_ = false;
    bool lossy_ = false;
    std::string first_fault_;
    std::int64_t first_collective_ns_ = trace::not_available;
};

}  // namespace ringscope::bench
