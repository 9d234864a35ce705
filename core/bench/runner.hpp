// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bench/causality.hpp"
#include "bench/event_store.hpp"
#include "bench/health_probe.hpp"
#include "bench/health_watch.hpp"
#include "bench/ladder.hpp"
#include "bench/ledger.hpp"
#include "bench/prepare.hpp"
#include "bench/sampler.hpp"
#include "bench/start_gate.hpp"
#include "bench/watchdog.hpp"
#include "machine/ceilings.hpp"
#include "report/reporter.hpp"
#include "trace/writer.hpp"

namespace ringscope::bench {

/// What a case in which a peer did not answer ends: itself, or the run.
enum class Timeout { ends_case, ends_run };

/// Where results go. Rank 0 has both (or no writer where no file was asked for), the other ranks neither.
struct Outputs {
    report::Reporter* reporter = nullptr;
    trace::TraceWriter* writer = nullptr;
    SpillPlace spill{};        ///< of every rank
    bool verbose = false;      ///< say on stderr when a case is written
    Ladder* ladder = nullptr;  ///< of every rank: told of the first collective
};

/// What is made of the events of a case while they pass by.
struct PassedEvents {
    TracedTraffic traffic;
    CausalityCheck causality;
};

/// Takes the cases of an experiment one after another from preparation to the stored result.
class Runner {
 public:
    Runner(
        bootstrap::Bootstrap& bootstrap, const Experiment& experiment, const plugin::PluginRegistry& registry,
        const Engines& engines, Watchdog& watchdog, Outputs outputs, Timeout timeout = Timeout::ends_case,
        machine::Ceilings ceilings = {}, HealthProbe probe = {}
    );

    /// Runs all cases. [collective] Returns the worst exit code of them, the same on all ranks. Throws
    /// StuckError when a peer does not answer and the run cannot go on, or is not to; what was finished
    /// before is complete in the file.
    ExitCode run(const std::vector<Case>& cases);

    /// Completes the file with what was finished, and the case that runs, if one does, as timed out, while
    /// `run` is held up for ever. From another thread, before the process ends.
    void abandon(const std::string& reason);

    [[nodiscard]] const report::TrafficVerdict& traffic() const { return traffic_; }
    /// The first case that is not as it must be, in words; "" when there is none.
    [[nodiscard]] const std::string& first_fault() const { return first_fault_; }
    /// Of the cases until now.
    [[nodiscard]] ExitCode worst() const { return worst_; }
    [[nodiscard]] bool lossy() const { return lossy_; }
    /// Errors of the machine after the last case, in words; "" where there was none, and on other ranks
    /// than 0.
    [[nodiscard]] const std::string& late_errors() const { return late_errors_; }

 private:
    void keep_clocks();
    void read_before();
    void read_after();
    void begin(const Case& point);
    void end_cases();
    void run_case(const Case& point);
    void measure(const Case& point, report::CaseSummary& summary);
    [[nodiscard]] std::vector<std::int32_t> members_of(const PreparedCase& prepared) const;
    [[nodiscard]] std::unique_ptr<CaseBuffers> make_buffers(const Case& point, const PreparedCase& prepared)
        const;
    void check_memory(const Case& point) const;
    [[nodiscard]] std::int64_t operations_of(const Case& point) const;
    [[nodiscard]] RankResult sample(const Case& point, PreparedCase& prepared);
    void note_first(const RankResult& result);
    [[nodiscard]] std::vector<trace::HealthRow> read_health(std::int32_t case_index) const;
    [[nodiscard]] std::vector<trace::HealthRow> gather_health(std::int32_t case_index);
    [[nodiscard]] LinkLoad load_of(const Case& point, const std::vector<RankResult>& results) const;
    void watch(const std::vector<RankResult>& results, report::CaseSummary& summary);
    void examine(trace::CaseRow& row);
    void store_health(const std::vector<trace::HealthRow>& rows);
    [[nodiscard]] std::vector<RankResult> gather_results(const RankResult& mine);
    void begin_case(const PreparedCase& prepared, const trace::CaseRow& row);
    [[nodiscard]] PassedEvents store_events(const std::vector<RankResult>& results, trace::CaseRow& row);
    void settle(
        const PreparedCase& prepared, const std::vector<RankResult>& results, const PassedEvents& events,
        report::CaseSummary& summary
    );
    void count_events(
        const PreparedCase& prepared, const std::vector<RankResult>& results, trace::CaseRow& row
    ) const;
    void share_status(trace::CaseRow& row);
    void suspect(const PreparedCase& prepared, report::CaseSummary& summary) const;
    void note_traffic(const report::CaseSummary& summary, const PreparedCase& prepared, const Ledger& ledger);
    void store(
        const report::CaseSummary& summary, const std::vector<RankResult>& results, const Ledger& ledger
    );
    void finish_case(const report::CaseSummary& summary);
    [[nodiscard]] bool contain(const engine::host::StuckError& e, report::CaseSummary& summary);
    void end_stuck(report::CaseSummary& summary);
    void finish_early(const trace::CaseRow& row);
    void store_case(const trace::CaseRow& row);
    void write_case(const trace::CaseRow& row);
    void say(const trace::CaseRow& row, const char* what) const;

    bootstrap::Bootstrap& bootstrap_;
    const Experiment& experiment_;
    Engines engines_;
    Watchdog& watchdog_;
    Outputs outputs_;
    Timeout timeout_;
    std::mutex output_;                      ///< held while the file is written
    std::optional<trace::CaseRow> running_;  ///< the case that runs, as far as it is known; by `output_`
    machine::Ceilings ceilings_;             ///< rank 0's: what the links can do
    HealthProbe probe_;
    HealthWatch watch_;  ///< rank 0's
    Preparer preparer_;
    std::unique_ptr<StartGate> gate_;
    EventStore events_;
    report::TrafficVerdict traffic_;
    std::atomic<ExitCode> worst_ = ExitCode::ok;
    bool any_ran_ = false;
    bool lossy_ = false;
    std::string first_fault_, late_errors_;
};

}  // namespace ringscope::bench
