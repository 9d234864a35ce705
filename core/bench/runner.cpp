// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>

#include "base/time.hpp"
#include "bench/clock_record.hpp"
#include "bench/cold.hpp"
#include "bench/host_gate.hpp"
#include "bench/memory.hpp"
#include "bench/message_gate.hpp"
#include "bench/times.hpp"
#include "bench/verdict.hpp"
#include "engine/cuda/range.hpp"
#include "trace/marks.hpp"

namespace ringscope::bench {
namespace {

using trace::nan;

constexpr std::int64_t reading_ns = 60'000'000'000;  // of all ranks' devices; it takes milliseconds

std::string title(const Case& point) {
    return "case " + std::to_string(point.index) + " (" + report::label(point.algorithm) + ", " +
           std::to_string(point.bytes) + " bytes of " + std::string{name_of(point.dtype)} + ", " +
           std::string{name_of(point.mode)} + (point.in_place ? ", in place)" : ")");
}

trace::CaseRow row_of(const Case& point) {
    trace::CaseRow row;
    row.case_index = point.index;
    row.algorithm = point.algorithm.id;
    row.params = report::parameters(point.algorithm);
    row.bytes = point.bytes;
    row.count = point.count;
    row.dtype = point.dtype;
    row.op = point.op;
    row.in_place = point.in_place;
    row.offset = point.offset;
    row.mode = point.mode;
    return row;
}

void describe_plan(const PreparedCase& prepared, trace::CaseRow& row) {
    row.protocol = prepared.protocol;
    if (!prepared.plan) return;
    row.channels = prepared.plan->request.channels;
    row.slots = static_cast<std::int32_t>(prepared.plan->request.slots);
    row.slot_bytes = prepared.plan->request.slot_bytes;
    row.slices = prepared.plan->slices;
}

/// How GPUs that asked each other stood to that of rank 0, at the end of a case.
std::vector<trace::ClockRow> device_clock_rows(const std::vector<RankResult>& results) {
    std::vector<trace::ClockRow> rows;
    for (std::size_t rank = 1; rank < results.size(); ++rank) {
        if (!results[rank].compared_devices) continue;
        trace::ClockRow row;
        row.rank = static_cast<std::int32_t>(rank);
        row.clock = "device";
        row.anchor = "during";
        row.time_ns = now_ns();
        row.offset_ns = results[rank].device_ahead_ns - results.front().device_ahead_ns;
        row.error_bound_ns = results[rank].clock_error_ns;
        rows.push_back(row);
    }
    return rows;
}

ExitCode code_of(trace::CaseStatus status) {
    switch (status) {
        case trace::CaseStatus::ok:
            return ExitCode::ok;
        case trace::CaseStatus::wrong:
            return ExitCode::wrong_result;
        case trace::CaseStatus::timeout:
            return ExitCode::timeout;
        case trace::CaseStatus::skipped:
            return ExitCode::skipped;
        case trace::CaseStatus::failed:
            break;
    }
    return ExitCode::internal;
}

std::unique_ptr<StartGate> make_gate(
    bootstrap::Bootstrap& bootstrap, const Experiment& experiment, const Engines& engines
) {
    const engine::host::HostOptions& options = engines.host.options();
    if (options.across_hosts)
        return std::make_unique<MessageGate>(
            bootstrap, experiment.measure.start, options.oversubscribed, *engines.clocks
        );
    engine::host::Control& control = engines.host.control();
    const engine::host::Waiter waiter{
        control, bootstrap.rank(), experiment.timeout.wait_ns, options.oversubscribed};
    return std::make_unique<HostGate>(
        control, bootstrap.rank(), bootstrap.size(), experiment.measure.start, waiter, options.oversubscribed,
        engines.clock_of(bootstrap.rank()).offset_ns
    );
}

}  // namespace

Runner::Runner(
    bootstrap::Bootstrap& bootstrap, const Experiment& experiment, const plugin::PluginRegistry& registry,
    const Engines& engines, Watchdog& watchdog, Outputs outputs, Timeout timeout, machine::Ceilings ceilings,
    HealthProbe probe
)
    : bootstrap_{bootstrap},
      experiment_{experiment},
      engines_{engines},
      watchdog_{watchdog},
      outputs_{outputs},
      timeout_{timeout},
      ceilings_{std::move(ceilings)},
      probe_{std::move(probe)},
      watch_{probe_.over_nvlink},
      preparer_{bootstrap, registry, engines},
      gate_{make_gate(bootstrap, experiment, engines)},
      events_{experiment.trace.max_events_in_memory, outputs_.spill} {}

ExitCode Runner::run(const std::vector<Case>& cases) {
    watchdog_.enter("reading the state of the machine has not ended in 60 s", reading_ns);
    read_before();
    for (const Case& point : cases) {
        begin(point);
        keep_clocks();
        run_case(point);
    }
    end_cases();
    read_after();
    watchdog_.leave();
    events_.remove();
    return any_ran_ || worst_ != ExitCode::ok ? worst_.load() : ExitCode::skipped;
}

/// From here on it is this case that is timed out where the ranks are held up.
void Runner::begin(const Case& point) {
    const std::lock_guard lock{output_};
    running_ = row_of(point);
    running_->engine = preparer_.engine_of(point);
    watchdog_.enter(title(point) + " has not ended in time (timeout.case)", experiment_.timeout.case_ns);
}

void Runner::end_cases() {
    const std::lock_guard lock{output_};
    running_.reset();
    watchdog_.enter("reading the state of the machine after the last case has not ended in 60 s", reading_ns);
}

/// What is known of the clocks of other hosts is worth most right after it was asked.
void Runner::keep_clocks() {
    if (engines_.clocks == nullptr) return;
    const ClockRecord record = record_of(*engines_.clocks, engines_.clocks->keep_up(), "during");
    if (outputs_.writer == nullptr) return;
    const std::lock_guard lock{output_};
    outputs_.writer->append(record.rows);
    outputs_.writer->append(record.exchanges);
}

/// The first reading takes longest: libraries are opened for it.
void Runner::read_before() {
    if (!probe_.read) return;
    const std::vector<trace::HealthRow> rows = gather_health(trace::before_the_run);
    (void)watch_.compare(rows, {});
    store_health(rows);
    if (outputs_.ladder != nullptr) outputs_.ladder->step("health", now_ns(), inner_phases(engines_));
}

/// Errors may be reported late; all else was seen after the last case.
void Runner::read_after() {
    if (!probe_.read) return;
    const std::vector<trace::HealthRow> rows = gather_health(trace::after_the_run);
    std::vector<HealthChange> changes = watch_.compare(rows, {});
    std::erase_if(changes, [](const HealthChange& change) {
        return change.mark != "aer-errors" && change.mark != "xid";
    });
    late_errors_ = in_words(changes);
    store_health(rows);
}

void Runner::run_case(const Case& point) {
    report::CaseSummary summary{
        .point = point,
        .row = row_of(point),
        .ranks = bootstrap_.size(),
        .time_ns = nan,
        .busiest_link_bytes = nan,
        .waited_share = nan};
    summary.row.engine = preparer_.engine_of(point);
    const engine::cuda::Range range{title(point)};
    ExitCode code = ExitCode::ok;
    try {
        measure(point, summary);
        code = code_of(summary.row.status);
    } catch (const engine::host::StuckError& e) {
        code = e.code();
        summary.row.status = trace::CaseStatus::timeout;
        summary.row.reason = e.what();
        if (!contain(e, summary)) {
            end_stuck(summary);
            if (first_fault_.empty()) first_fault_ = title(point) + ": " + e.what();
            throw;
        }
        examine(summary.row);
        store_case(summary.row);
    } catch (const Error& e) {
        // A file that could not be written takes no more rows: the run ends here.
        if (e.code() == ExitCode::output) throw;
        code = e.code();
        summary.row.status = code == ExitCode::skipped        ? trace::CaseStatus::skipped
                             : code == ExitCode::wrong_result ? trace::CaseStatus::wrong
                             : code == ExitCode::timeout      ? trace::CaseStatus::timeout
                                                              : trace::CaseStatus::failed;
        summary.row.reason = e.what();
        if (code != ExitCode::skipped) examine(summary.row);
        store_case(summary.row);
    }
    if (code == ExitCode::skipped) {
        code = ExitCode::ok;
    } else {
        any_ran_ = true;
    }
    worst_ = ringscope::worst(worst_, code);
    if (code != ExitCode::ok && first_fault_.empty()) first_fault_ = title(point) + ": " + summary.row.reason;
    finish_case(summary);
}

/// Everything that can fail on some ranks only is agreed on; the status is rank 0's judgement, known to all.
void Runner::measure(const Case& point, report::CaseSummary& summary) {
    bootstrap::agree(bootstrap_, [&] { check_memory(point); });
    PreparedCase prepared = preparer_.prepare(point, operations_of(point));
    summary.empty_ns = summary.row.empty_kernel_ns = prepared.empty_ns;
    describe_plan(prepared, summary.row);
    begin_case(prepared, summary.row);
    const std::vector<RankResult> results = gather_results(sample(point, prepared));
    const PassedEvents events = store_events(results, summary.row);
    bootstrap::agree(bootstrap_, [&] {
        if (bootstrap_.rank() == 0) settle(prepared, results, events, summary);
    });
    share_status(summary.row);
}

RankResult Runner::sample(const Case& point, PreparedCase& prepared) {
    std::unique_ptr<Sampler> sampler;
    bootstrap::agree(bootstrap_, [&] {
        sampler = std::make_unique<Sampler>(
            point, experiment_, prepared, make_buffers(point, prepared), *gate_, bootstrap_.rank(), events_,
            engines_.clock_of(bootstrap_.rank())
        );
    });
    RankResult result;
    try {
        result = sampler->run();
        gate_->finish();  // bounded; what follows is not
        result.health = read_health(point.index);
    } catch (const engine::host::StuckError&) {
        events_.leave(result.samples.empty() ? sampler->samples() : result.samples);
        throw;
    }
    note_first(result);
    return result;
}

/// Of the case that begins with a cold sample. Moments of the ladder are of this process's own clock.
void Runner::note_first(const RankResult& result) {
    if (outputs_.ladder == nullptr || result.samples.empty()) return;
    const trace::SampleRow& first = result.samples.front();
    if (first.state != trace::SampleState::cold) return;
    const clock::Line own = engines_.clock_of(bootstrap_.rank());
    outputs_.ladder->finish(
        first.case_index, own.from_reference(first.enter_ns), own.from_reference(first.exit_ns),
        inner_phases(engines_)
    );
}

/// This rank's devices, now.
std::vector<trace::HealthRow> Runner::read_health(std::int32_t case_index) const {
    if (!probe_.read) return {};
    std::vector<trace::HealthRow> rows = probe_.read();
    for (trace::HealthRow& row : rows) {
        row.case_index = case_index;
        row.rank = bootstrap_.rank();
        row.time_ns = engines_.clock_of(bootstrap_.rank()).to_reference(row.time_ns);
    }
    return rows;
}

/// [collective] Those of all ranks, at rank 0.
std::vector<trace::HealthRow> Runner::gather_health(std::int32_t case_index) {
    std::vector<trace::HealthRow> all;
    for (const std::string& bytes : bootstrap_.gather(trace::pack(read_health(case_index)), 0))
        std::ranges::copy(trace::unpack<trace::HealthRow>(bytes), std::back_inserter(all));
    return all;
}

/// What the case asked of the links between GPUs and host.
LinkLoad Runner::load_of(const Case& point, const std::vector<RankResult>& results) const {
    using Way = LinkLoad::Way;
    const bool staged = preparer_.engine_of(point) == engine::cuda::name_of(engine::cuda::GpuEngine::staged);
    LinkLoad load{.way = preparer_.on_device(point) ? Way::peers : Way::none};
    if (staged || probe_.stands_in) load.way = Way::through;
    for (const RankResult& result : results) {
        std::int64_t& busy_ns = load.busy_ns.emplace_back(0);
        for (const trace::SampleRow& sample : result.samples) busy_ns += sample.exit_ns - sample.enter_ns;
    }
    return load;
}

void Runner::watch(const std::vector<RankResult>& results, report::CaseSummary& summary) {
    std::vector<trace::HealthRow> rows;
    for (const RankResult& result : results) std::ranges::copy(result.health, std::back_inserter(rows));
    note_changes(watch_.compare(rows, load_of(summary.point, results)), summary.row);
    store_health(rows);
}

/// [collective] The machine after a case that did not end in order, which may say why.
void Runner::examine(trace::CaseRow& row) {
    if (!probe_.read) return;
    const std::vector<trace::HealthRow> rows = gather_health(row.case_index);
    note_changes(watch_.compare(rows, {}), row);
    store_health(rows);
}

void Runner::store_health(const std::vector<trace::HealthRow>& rows) {
    if (outputs_.writer == nullptr || rows.empty()) return;
    const std::lock_guard lock{output_};
    outputs_.writer->append(rows);
}

/// What the log of a crashed run says of a case that did not end. How many operations a traced sample has is
/// not known yet.
void Runner::begin_case(const PreparedCase& prepared, const trace::CaseRow& row) {
    events_.clear();
    if (outputs_.writer == nullptr) return;
    trace::CaseRow begun = row;
    for (int rank = 0; rank < bootstrap_.size(); ++rank)
        begun.events_expected += expected_events(experiment_, prepared, rank, 1);
    begun.status = trace::CaseStatus::failed;
    begun.reason = "the run ended during this case";
    const std::lock_guard lock{output_};
    outputs_.writer->begin_case(begun);
}

std::int64_t Runner::operations_of(const Case& point) const {
    return operations_per_sample(point, experiment_, preparer_.on_device(point));
}

/// Buffers of the host; those of a GPU are its engine's to find.
void Runner::check_memory(const Case& point) const {
    if (preparer_.on_device(point)) return;
    const std::int64_t each = buffer_bytes(point, experiment_), available = available_memory();
    const std::int64_t local_ranks = std::ssize(bootstrap_.local_ranks());
    if (each <= available / local_ranks) return;
    throw Error{
        ExitCode::out_of_memory, "the buffers of " + std::to_string(local_ranks) + " ranks take " +
                                     std::to_string(each) + " bytes each, and this host has " +
                                     std::to_string(available) + " left in all"};
}

/// The ranks that contribute and receive: all of them but for a schedule with ranks that only serve.
std::vector<std::int32_t> Runner::members_of(const PreparedCase& prepared) const {
    if (prepared.plan) return prepared.plan->members;
    std::vector<std::int32_t> all(static_cast<std::size_t>(bootstrap_.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::unique_ptr<CaseBuffers> Runner::make_buffers(const Case& point, const PreparedCase& prepared) const {
    verify::Verifier verifier{verify::Pattern{
        point.dtype, point.op, members_of(prepared), prepared.verify.value_or(experiment_.verify)}};
    const std::int64_t operations = operations_of(point);
    if (!preparer_.on_device(point)) {
        return std::make_unique<HostBuffers>(
            point, std::move(verifier), bootstrap_.rank(), operations, prepared.user_memory
        );
    }
    return make_device_buffers(
        point, std::move(verifier), bootstrap_.rank(), operations, prepared.user_memory, prepared.user_bytes
    );
}

std::vector<RankResult> Runner::gather_results(const RankResult& mine) {
    std::vector<RankResult> results;
    for (const std::string& bytes : bootstrap_.gather(pack(mine), 0)) results.push_back(unpack(bytes));
    return results;
}

void Runner::share_status(trace::CaseRow& row) {
    std::string status = std::to_string(static_cast<int>(row.status)) + " " + row.reason;
    bootstrap_.broadcast(status, 0);
    row.status = static_cast<trace::CaseStatus>(std::stoi(status));
    row.reason = status.substr(status.find(' ') + 1);
}

/// Rank 0 takes the events of all ranks into the file while they pass by.
PassedEvents Runner::store_events(const std::vector<RankResult>& results, trace::CaseRow& row) {
    std::vector<std::int64_t> errors;
    for (const RankResult& result : results) errors.push_back(result.clock_error_ns);
    PassedEvents passed{{}, CausalityCheck{errors}};
    say(row, "writing");
    gather_events(bootstrap_, events_, [&](const std::vector<trace::EventRow>& events) {
        passed.traffic.add(events);
        passed.causality.add(events);
        row.events_written += std::ssize(events);
        if (outputs_.writer == nullptr) return;
        const std::lock_guard lock{output_};
        outputs_.writer->append(events);
        running_->events_written = row.events_written;
    });
    return passed;
}

/// What rank 0 makes of everybody's results: counts, verdict, traffic, file.
void Runner::settle(
    const PreparedCase& prepared, const std::vector<RankResult>& results, const PassedEvents& events,
    report::CaseSummary& summary
) {
    count_events(prepared, results, summary.row);
    const Ledger ledger = make_ledger(
        summary.row.case_index, prepared, events.traffic, results.front().traced_ops,
        summary.row.events_dropped > 0
    );
    judge(results, members_of(prepared), ledger, summary);
    note_causality(events.causality.found(), summary.row);
    set_times(results, prepared, summary);
    suspect(prepared, summary);
    if (summary.row.reason.empty()) summary.row.reason = prepared.note;
    note_choice(prepared, summary.row);
    watch(results, summary);
    if (prepared.declared) {
        summary.busiest_link_bytes = static_cast<double>(prepared.declared->payload.busiest());
    }
    note_traffic(summary, prepared, ledger);
    store(summary, results, ledger);
}

/// A time that the machine's links do not allow is kept, with a mark and the link.
void Runner::suspect(const PreparedCase& prepared, report::CaseSummary& summary) const {
    if (!prepared.plan || !prepared.declared) return;
    const schedule::PlanRequest& request = prepared.plan->request;
    const auto excess = ceilings_.excess(
        {.engine = summary.row.engine,
         .payload = prepared.declared->payload,
         .reused_bytes = request.channels * request.slots * request.slot_bytes,
         .time_ns = summary.verified_time_ns()}
    );
    if (!excess) return;
    trace::add_mark(summary.row, "suspect");
    if (summary.row.reason.empty()) summary.row.reason = "suspect: " + machine::in_words(*excess);
}

void Runner::count_events(
    const PreparedCase& prepared, const std::vector<RankResult>& results, trace::CaseRow& row
) const {
    for (int rank = 0; rank < bootstrap_.size(); ++rank) {
        const RankResult& result = results[static_cast<std::size_t>(rank)];
        row.events_expected += expected_events(experiment_, prepared, rank, result.traced_ops);
        row.events_dropped += result.events_dropped;
    }
    check_complete(row);
}

void Runner::note_traffic(
    const report::CaseSummary& summary, const PreparedCase& prepared, const Ledger& ledger
) {
    lossy_ = lossy_ || summary.row.events_dropped > 0;
    if (!prepared.declared) {
        if (std::ranges::find(traffic_.not_observed, summary.row.algorithm) == traffic_.not_observed.end()) {
            traffic_.not_observed.push_back(summary.row.algorithm);
        }
        return;
    }
    const auto links = static_cast<std::int64_t>(ledger.rows.size());
    const auto different = static_cast<std::int64_t>(std::ranges::count_if(ledger.rows, [](const auto& row) {
        return (row.closed_form >= 0 && row.closed_form != row.declared_payload) ||
               (row.traced_payload >= 0 && row.traced_payload != row.declared_payload);
    }));
    ++traffic_.cases_checked;
    traffic_.links_checked += links;
    traffic_.links_traced +=
        std::ranges::count_if(ledger.rows, [](const auto& row) { return row.traced_payload >= 0; });
    traffic_.links_equal += links - (ledger.differences.empty() ? 0 : std::max<std::int64_t>(1, different));
    for (const std::string& difference : ledger.differences) {
        if (traffic_.differences.size() < 5)
            traffic_.differences.push_back(title(summary.point) + ": " + difference);
    }
}

void Runner::store(
    const report::CaseSummary& summary, const std::vector<RankResult>& results, const Ledger& ledger
) {
    if (outputs_.writer == nullptr) return;
    const std::lock_guard lock{output_};
    outputs_.writer->append(ledger.rows);
    outputs_.writer->append(cold_rows(summary.row.case_index, results));
    outputs_.writer->append(device_clock_rows(results));
    for (const RankResult& result : results) outputs_.writer->append(result.samples);
    write_case(summary.row);
}

void Runner::finish_case(const report::CaseSummary& summary) {
    if (outputs_.reporter != nullptr) outputs_.reporter->add(summary);
}

void Runner::store_case(const trace::CaseRow& row) {
    if (outputs_.writer == nullptr) return;
    const std::lock_guard lock{output_};
    write_case(row);
}

/// The last row of a case is its own. `output_` is held.
void Runner::write_case(const trace::CaseRow& row) {
    outputs_.writer->append(std::vector{row});
    outputs_.writer->finish_case(row.case_index);
    say(row, "written");
}

void Runner::say(const trace::CaseRow& row, const char* what) const {
    if (outputs_.writer == nullptr || !outputs_.verbose) return;
    std::cerr << "case " + std::to_string(row.case_index) + ": " + what + "\n";
}

/// All ranks gave up, and are still there: the next case can begin. What is waited for here may be a rank
/// that verifies a long message.
bool Runner::contain(const engine::host::StuckError& e, report::CaseSummary& summary) {
    constexpr std::int64_t most_ns = 5'000'000'000;
    if (timeout_ == Timeout::ends_run || !e.is_over()) return false;
    const std::optional<std::string> who_waits =
        gate_->recover(std::min(experiment_.timeout.wait_ns, most_ns));
    if (!who_waits) return false;
    engines_.host.forget_connections();
    summary.row.reason = engine::host::timeout_message(*who_waits, experiment_.timeout.wait_ns);
    return true;
}

/// A peer does not answer, so nothing collective is possible any more; rank 0 completes the file on its own.
void Runner::end_stuck(report::CaseSummary& summary) {
    if (bootstrap_.rank() != 0) return;
    finish_case(summary);
    if (outputs_.writer != nullptr) finish_early(summary.row);
    if (outputs_.reporter != nullptr)
        outputs_.reporter->end(traffic_, ringscope::worst(worst_, ExitCode::timeout));
}

void Runner::abandon(const std::string& reason) {
    if (outputs_.writer == nullptr) return;
    const std::unique_lock lock{output_, std::try_to_lock};
    if (!lock.owns_lock()) return;  // held up in the middle of writing: the file is beyond help
    if (!running_) return outputs_.writer->finish(lossy_, trace::TraceWriter::Log::kept);
    running_->status = trace::CaseStatus::timeout;
    running_->reason = reason;
    finish_early(*running_);
}

/// In the log the case has no mark that it is finished: what the ranks have of it belongs there.
void Runner::finish_early(const trace::CaseRow& row) {
    outputs_.writer->append(std::vector{row});
    outputs_.writer->finish(lossy_, trace::TraceWriter::Log::kept);
}

}  // namespace ringscope::bench
