// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

#include "bench/memory.hpp"
#include "bench/statistics.hpp"
#include "engine/cuda/range.hpp"

namespace ringscope::bench {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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

/// A sample of all ranks: from the first entry to the last exit, or on devices the longest time of a rank
/// between its own events; and the worst state of its ranks.
struct Span {
    double ns = 0, ops = 1;
    trace::SampleState state = trace::SampleState::ok;
    bool traced = false;
};

Span span_of(const std::vector<RankResult>& results, std::size_t sample) {
    const trace::SampleRow& first = results.front().samples[sample];
    std::int64_t enter = first.enter_ns, exit = first.exit_ns, device = first.device_ns;
    Span span{.ops = static_cast<double>(first.ops), .state = first.state, .traced = first.traced};
    for (const RankResult& result : results) {
        enter = std::min(enter, result.samples[sample].enter_ns);
        exit = std::max(exit, result.samples[sample].exit_ns);
        device = std::max(device, result.samples[sample].device_ns);
        span.state = std::max(span.state, result.samples[sample].state);
    }
    span.ns = static_cast<double>(device == trace::not_available ? exit - enter : device);
    return span;
}

std::vector<Span> spans(const std::vector<RankResult>& results, trace::SampleState state, bool traced) {
    std::vector<Span> spans;
    for (std::size_t i = 0; i < results.front().samples.size(); ++i) {
        const Span span = span_of(results, i);
        if (span.state == state && span.traced == traced) spans.push_back(span);
    }
    return spans;
}

/// Median of samples.
double median_ns(const std::vector<Span>& spans) {
    std::vector<double> times;
    for (const Span& span : spans) times.push_back(span.ns / span.ops);
    return median(std::move(times));
}

/// Total time over total operations, for those back to back.
double mean_ns(const std::vector<Span>& spans) {
    double ns = 0, ops = 0;
    for (const Span& span : spans) {
        ns += span.ns;
        ops += span.ops;
    }
    return ops > 0 ? ns / ops : nan;
}

/// Share of the ranks' traced time that their events spent waiting.
double waited_share(const std::vector<RankResult>& results, std::int32_t side_by_side) {
    double waited = 0, all = 0;
    for (const RankResult& result : results) {
        for (const trace::EventRow& e : result.events)
            waited += static_cast<double>(e.wait_data_ns + e.wait_credit_ns);
        for (const trace::SampleRow& s : result.samples) {
            if (!s.traced) continue;
            all += static_cast<double>(
                s.device_ns == trace::not_available ? s.exit_ns - s.enter_ns : s.device_ns
            );
        }
    }
    return all > 0 ? waited / all / side_by_side : nan;
}

/// The first sample whose outputs differ between the ranks that take part, in words; "" when there is none.
std::string different_outputs(
    const std::vector<RankResult>& results, const std::vector<std::int32_t>& members
) {
    const RankResult& first = results[static_cast<std::size_t>(members.front())];
    for (std::size_t i = 0; i < first.hashes.size(); ++i) {
        for (const std::int32_t rank : members) {
            if (results[static_cast<std::size_t>(rank)].hashes[i] == first.hashes[i]) continue;
            return "iteration " + std::to_string(i) + ": the output of rank " + std::to_string(rank) +
                   " differs from that of rank " + std::to_string(members.front());
        }
    }
    return "";
}

/// The verdict on the data, which comes first, and on the traffic.
void judge(
    const std::vector<RankResult>& results, const std::vector<std::int32_t>& members, const Ledger& ledger,
    report::CaseSummary& summary
) {
    std::string what = different_outputs(results, members);
    for (auto result = results.rbegin(); result != results.rend(); ++result) {
        summary.row.wrong += result->wrong;
        if (!result->what.empty()) what = result->what;
    }
    if (!what.empty()) summary.row.wrong = std::max<std::int64_t>(1, summary.row.wrong);
    if (what.empty() && !ledger.differences.empty()) what = "traffic: " + ledger.differences.front();
    summary.row.status = what.empty() ? trace::CaseStatus::ok : trace::CaseStatus::wrong;
    summary.row.reason = what;
    const RankResult& first = results[static_cast<std::size_t>(members.front())];
    if (!first.hashes.empty()) summary.row.output_hash = first.hashes.back();
}

/// On a busy machine all samples may be late: times that include the delay, and say so, are more use than
/// none.
std::vector<Span> timed_spans(const std::vector<RankResult>& results, trace::CaseRow& row) {
    const std::vector<Span> good = spans(results, trace::SampleState::ok, false);
    if (!good.empty() || row.status != trace::CaseStatus::ok) return good;
    std::vector<Span> late = spans(results, trace::SampleState::late_start, false);
    if (!late.empty()) {
        row.reason = "all " + std::to_string(late.size()) +
                     " samples started late, their times include it (measure.start: barrier)";
    }
    return late;
}

void set_times(
    const std::vector<RankResult>& results, const PreparedCase& prepared, report::CaseSummary& summary
) {
    const bool isolated = summary.point.mode == Mode::isolated;
    const bool queued = summary.point.mode == Mode::back_to_back;
    const std::vector<Span> timed = timed_spans(results, summary.row);
    summary.time_ns = queued ? mean_ns(timed) : median_ns(timed);
    const double traced_ns = median_ns(spans(results, trace::SampleState::ok, true));
    if (isolated) summary.row.trace_overhead = traced_ns / summary.time_ns - 1;
    summary.waited_share = waited_share(results, prepared.side_by_side);
}

/// "ring ll 24 channels" of a library that tells.
void note_choice(const PreparedCase& prepared, trace::CaseRow& row) {
    const std::string choice = prepared.chosen ? prepared.chosen() : "";
    std::istringstream words{choice};
    std::string algorithm;
    if (!(words >> algorithm >> row.protocol >> row.channels)) return;
    if (row.reason.empty()) row.reason = "chose " + choice;
}

/// The number of events is known beforehand, so none can be missing without being noticed.
void check_complete(const trace::CaseRow& row) {
    if (row.events_written + row.events_dropped == row.events_expected) return;
    throw Error{
        ExitCode::output, "trace incomplete: " + std::to_string(row.events_written) + " events written and " +
                              std::to_string(row.events_dropped) + " dropped, " +
                              std::to_string(row.events_expected) + " expected"};
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

}  // namespace

Runner::Runner(
    bootstrap::Bootstrap& bootstrap, const Experiment& experiment, const plugin::PluginRegistry& registry,
    const Engines& engines, Watchdog& watchdog, Outputs outputs
)
    : bootstrap_{bootstrap},
      experiment_{experiment},
      engines_{engines},
      watchdog_{watchdog},
      outputs_{outputs},
      preparer_{bootstrap, registry, engines},
      gate_{
          engines.host.control(),
          bootstrap.rank(),
          bootstrap.size(),
          experiment.measure.start,
          {engines.host.control(), bootstrap.rank(), experiment.timeout.wait_ns,
           engines.host.options().oversubscribed},
          engines.host.options().oversubscribed} {}

ExitCode Runner::run(const std::vector<Case>& cases) {
    for (const Case& point : cases) {
        watchdog_.enter(title(point), experiment_.timeout.case_ns);
        run_case(point);
    }
    watchdog_.leave();
    return any_ran_ || worst_ != ExitCode::ok ? worst_ : ExitCode::skipped;
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
        end_stuck(summary, e.what());
        if (first_fault_.empty()) first_fault_ = title(point) + ": " + e.what();
        throw;
    } catch (const Error& e) {
        // A file that could not be written takes no more rows: the run ends here.
        if (e.code() == ExitCode::output) throw;
        code = e.code();
        summary.row.status = code == ExitCode::skipped        ? trace::CaseStatus::skipped
                             : code == ExitCode::wrong_result ? trace::CaseStatus::wrong
                                                              : trace::CaseStatus::failed;
        summary.row.reason = e.what();
        if (outputs_.writer != nullptr) outputs_.writer->append(std::vector{summary.row});
    }
    if (code == ExitCode::skipped) {
        code = ExitCode::ok;
    } else {
        any_ran_ = true;
    }
    worst_ = worst(worst_, code);
    if (code != ExitCode::ok && first_fault_.empty()) first_fault_ = title(point) + ": " + summary.row.reason;
    finish_case(summary);
}

/// Everything that can fail on some ranks only is agreed on; the status is rank 0's judgement, known to all.
void Runner::measure(const Case& point, report::CaseSummary& summary) {
    bootstrap::agree(bootstrap_, [&] { check_memory(point); });
    PreparedCase prepared = preparer_.prepare(point, operations_per_sample(point, experiment_));
    summary.empty_ns = summary.row.empty_kernel_ns = prepared.empty_ns;
    describe_plan(prepared, summary.row);
    const std::vector<RankResult> results = gather_results(sample(point, prepared));
    bootstrap::agree(bootstrap_, [&] {
        if (bootstrap_.rank() == 0) settle(prepared, results, summary);
    });
    share_status(summary.row);
}

RankResult Runner::sample(const Case& point, PreparedCase& prepared) {
    std::unique_ptr<Sampler> sampler;
    bootstrap::agree(bootstrap_, [&] {
        sampler = std::make_unique<Sampler>(
            point, experiment_, prepared, make_buffers(point, prepared), gate_, bootstrap_.rank()
        );
    });
    return sampler->run();
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
    const std::int64_t operations = operations_per_sample(point, experiment_);
    if (prepared.user_memory == nullptr) {
        return std::make_unique<HostBuffers>(point, std::move(verifier), bootstrap_.rank(), operations);
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

/// What rank 0 makes of everybody's results: counts, verdict, traffic, file.
void Runner::settle(
    const PreparedCase& prepared, const std::vector<RankResult>& results, report::CaseSummary& summary
) {
    const std::vector<trace::EventRow> events = count_events(prepared, results, summary.row);
    const Ledger ledger =
        make_ledger(summary.row.case_index, prepared, events, summary.row.events_dropped > 0);
    judge(results, members_of(prepared), ledger, summary);
    set_times(results, prepared, summary);
    if (summary.row.reason.empty()) summary.row.reason = prepared.note;
    note_choice(prepared, summary.row);
    if (prepared.declared) {
        summary.busiest_link_bytes = static_cast<double>(prepared.declared->payload.busiest());
    }
    note_traffic(summary, prepared, ledger);
    store(summary, results, ledger);
}

std::vector<trace::EventRow> Runner::count_events(
    const PreparedCase& prepared, const std::vector<RankResult>& results, trace::CaseRow& row
) const {
    std::vector<trace::EventRow> events;
    for (int rank = 0; rank < bootstrap_.size(); ++rank) {
        const RankResult& result = results[static_cast<std::size_t>(rank)];
        row.events_expected += expected_events(experiment_, prepared, rank);
        row.events_dropped += result.events_dropped;
        events.insert(events.end(), result.events.begin(), result.events.end());
    }
    row.events_written = static_cast<std::int64_t>(events.size());
    check_complete(row);
    return events;
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
    traffic_.links_equal += links - (ledger.differences.empty() ? 0 : std::max<std::int64_t>(1, different));
    for (const std::string& difference : ledger.differences) {
        if (traffic_.differences.size() < 5)
            traffic_.differences.push_back(title(summary.point) + ": " + difference);
    }
}

void Runner::store(
    const report::CaseSummary& summary, const std::vector<RankResult>& results, const Ledger& ledger
) {
    if (first_collective_ns_ == trace::not_available && !results.front().samples.empty()) {
        first_collective_ns_ = results.front().samples[0].exit_ns - results.front().samples[0].enter_ns;
    }
    if (outputs_.writer == nullptr) return;
    outputs_.writer->append(std::vector{summary.row});
    outputs_.writer->append(ledger.rows);
    for (const RankResult& result : results) {
        outputs_.writer->append(result.samples);
        outputs_.writer->append(result.events);
    }
    outputs_.writer->flush();
}

void Runner::finish_case(const report::CaseSummary& summary) {
    if (outputs_.reporter != nullptr) outputs_.reporter->add(summary);
}

/// A peer does not answer, so nothing collective is possible any more; rank 0 completes the file on its own.
void Runner::end_stuck(report::CaseSummary& summary, const std::string& reason) {
    if (bootstrap_.rank() != 0) return;
    summary.row.status = trace::CaseStatus::timeout;
    summary.row.reason = reason;
    finish_case(summary);
    if (outputs_.writer != nullptr) {
        outputs_.writer->append(std::vector{summary.row});
        outputs_.writer->finish(lossy_);
    }
    if (outputs_.reporter != nullptr) outputs_.reporter->end(traffic_, ExitCode::timeout);
}

}  // namespace ringscope::bench
