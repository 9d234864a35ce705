// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/times.hpp"

#include <algorithm>

#include "bench/overhead.hpp"
#include "bench/statistics.hpp"
#include "bench/timer.hpp"
#include "trace/marks.hpp"

namespace ringscope::bench {
namespace {

using trace::SampleState;

/// A sample of all ranks: from the first entry to the last exit, or on devices the longest time of a rank
/// between its own events; and the worst state of its ranks.
struct Span {
    double ns = 0, ops = 1;
    double skew_ns = 0;  ///< last entry minus first entry
    SampleState state = SampleState::ok;
    bool traced = false;

    [[nodiscard]] double operation_ns() const { return ns / ops; }
};

Span span_of(const std::vector<RankResult>& results, std::size_t sample) {
    const trace::SampleRow& first = results.front().samples[sample];
    std::int64_t enter = first.enter_ns, last_enter = enter, exit = first.exit_ns, device = first.device_ns;
    Span span{.ops = static_cast<double>(first.ops), .state = first.state, .traced = first.traced};
    for (const RankResult& result : results) {
        const trace::SampleRow& row = result.samples[sample];
        enter = std::min(enter, row.enter_ns);
        last_enter = std::max(last_enter, row.enter_ns);
        exit = std::max(exit, row.exit_ns);
        device = std::max(device, row.device_ns);
        span.state = std::max(span.state, row.state);
    }
    span.ns = static_cast<double>(device == trace::not_available ? exit - enter : device);
    span.skew_ns = static_cast<double>(last_enter - enter);
    return span;
}

std::vector<Span> spans_of(const std::vector<RankResult>& results, SampleState state) {
    std::vector<Span> spans;
    for (std::size_t i = 0; i < results.front().samples.size(); ++i) {
        const Span span = span_of(results, i);
        if (span.state == state) spans.push_back(span);
    }
    return spans;
}

std::vector<Span> untraced(std::vector<Span> spans) {
    std::erase_if(spans, [](const Span& span) { return span.traced; });
    return spans;
}

std::vector<double> operation_times(const std::vector<Span>& spans) {
    std::vector<double> times;
    for (const Span& span : spans) times.push_back(span.operation_ns());
    return times;
}

/// Total time over total operations, for those back to back.
double mean_ns(const std::vector<Span>& spans) {
    double ns = 0, ops = 0;
    for (const Span& span : spans) {
        ns += span.ns;
        ops += span.ops;
    }
    return ops > 0 ? ns / ops : trace::nan;
}

/// On a busy machine no sample may be as it should: times that include the fault, and say so, are more use
/// than none.
std::vector<Span> timed_spans(const std::vector<RankResult>& results, trace::CaseRow& row) {
    std::vector<Span> good = untraced(spans_of(results, SampleState::ok));
    if (!good.empty() || row.status != trace::CaseStatus::ok) return good;
    for (const auto& [state, what] : std::initializer_list<std::pair<SampleState, const char*>>{
             {SampleState::late_start, "started late, their times include it (measure.start: barrier)"},
             {SampleState::clock_moved, "are longer on the device's clock than on the host's"},
             {SampleState::throttled, "were taken with a clock held down"}}) {
        std::vector<Span> others = untraced(spans_of(results, state));
        if (others.empty()) continue;
        row.reason = "all " + std::to_string(others.size()) + " samples " + what;
        return others;
    }
    return {};
}

/// Share of the ranks' traced time that their events spent waiting. What dropped events waited nobody knows.
double waited_share(const std::vector<RankResult>& results, std::int32_t side_by_side) {
    double waited = 0, all = 0;
    for (const RankResult& result : results) {
        if (result.events_dropped > 0) return trace::nan;
        waited += result.waited_ns;
        for (const trace::SampleRow& s : result.samples) {
            if (!s.traced) continue;
            all += static_cast<double>(
                s.device_ns == trace::not_available ? s.exit_ns - s.enter_ns : s.device_ns
            );
        }
    }
    return all > 0 ? waited / all / side_by_side : trace::nan;
}

/// Events of the busiest rank in one operation, that are recorded one after the other; those that there was
/// no room for cost as much.
double events_in_a_row(const std::vector<RankResult>& results, std::int32_t side_by_side) {
    std::int64_t most = 0;
    for (const RankResult& result : results)
        most = std::max(most, result.events_kept + result.events_dropped);
    const RankResult& first = results.front();
    const auto traced = std::ranges::count(first.samples, true, &trace::SampleRow::traced);
    return static_cast<double>(most) / static_cast<double>(traced * first.traced_ops * side_by_side);
}

void set_overhead(const std::vector<RankResult>& results, const PreparedCase& prepared, trace::CaseRow& row) {
    std::vector<TimedSample> series;
    for (const Span& span : spans_of(results, SampleState::ok))
        series.push_back({span.operation_ns(), span.traced});
    const Overhead overhead = measure_overhead(series);
    row.trace_overhead = overhead.share;
    row.trace_overhead_low = overhead.interval.low;
    row.trace_overhead_high = overhead.interval.high;
    row.noise_floor = overhead.noise_floor;
    const double events = events_in_a_row(results, prepared.side_by_side);
    row.event_cost_ns = events > 0 ? overhead.ns / events : trace::nan;
    const bool sure = !(overhead.interval.low <= 0.05);  // also where there is no interval
    if (overhead.share > 0.05 && sure) add_mark(row, "trace-perturbed");
}

void check_start(const std::vector<Span>& timed, double time_ns, trace::CaseRow& row) {
    std::vector<double> skews;
    for (const Span& span : timed) skews.push_back(span.skew_ns);
    row.start_skew_ns = quantile(std::move(skews), 0.99);
    const double ops = timed.empty() ? 1 : timed.front().ops;
    if (row.start_skew_ns > 0.05 * ops * time_ns) add_mark(row, "sync-limited");
}

/// What the host's clock cannot resolve is taken several operations at a time, where there can be several.
void check_timer(const std::vector<Span>& timed, const RankResult& first, trace::CaseRow& row) {
    const bool isolated = row.mode == Mode::isolated && !timed.empty();
    if (!isolated || first.samples.front().device_ns != trace::not_available) return;
    if (timed.front().ops > 1) add_mark(row, "batched");
    const double sample_ns = median(operation_times(timed)) * timed.front().ops;
    if (sample_ns < static_cast<double>(host_timer().shortest_ns())) add_mark(row, "timer-limited");
}

}  // namespace

bool begins_slower(const std::vector<double>& series) {
    constexpr std::size_t fewest = 20;
    if (series.size() < fewest) return false;
    const auto tenth = static_cast<std::ptrdiff_t>(series.size() / 10);
    const std::vector<double> first{series.begin(), series.begin() + tenth};
    const std::vector<double> rest{series.begin() + tenth, series.end()};
    return median(first) > std::max(1.1 * median(rest), quantile(rest, 0.9));
}

void set_times(
    const std::vector<RankResult>& results, const PreparedCase& prepared, report::CaseSummary& summary
) {
    trace::CaseRow& row = summary.row;
    const std::vector<Span> timed = timed_spans(results, row);
    const std::vector<double> times = operation_times(timed);
    const bool queued = row.mode == Mode::back_to_back;
    summary.time_ns = queued ? mean_ns(timed) : median(times);
    summary.waited_share = waited_share(results, prepared.side_by_side);
    // Traced operations are never queued, so these two have nothing to be compared with there.
    if (!queued) set_overhead(results, prepared, row);
    check_start(timed, summary.time_ns, row);
    check_timer(timed, results.front(), row);
    if (begins_slower(times)) add_mark(row, "not-warm");
    if (std::ranges::any_of(results.front().samples, [](const trace::SampleRow& s) {
            return s.state == SampleState::clock_moved;
        }))
        add_mark(row, "clock-moved");
}

}  // namespace ringscope::bench
