// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/sampler.hpp"

#include <algorithm>
#include <cmath>

#include "bench/statistics.hpp"
#include "bench/timer.hpp"

namespace ringscope::bench {
namespace {

/// Events that the log holds: those of a block of traced samples, or of one where these are so many that
/// nothing of the others is left in the caches anyway.
std::int64_t log_size(std::int64_t events_of_sample) {
    constexpr std::int64_t many = 4096;
    return events_of_sample > many ? events_of_sample : traced_per_block * events_of_sample;
}

std::uint64_t seed_of(const Case& point, std::int64_t iteration) {
    return static_cast<std::uint64_t>(point.index) * 1'000'003 + static_cast<std::uint64_t>(iteration);
}

std::int64_t traced_iterations(const Experiment& experiment, const PreparedCase& prepared) {
    return experiment.trace.enabled && prepared.traced ? experiment.trace.iterations : 0;
}

trace::EventRow event_row(
    const Case& point, std::int64_t iteration, int rank, const schedule::Plan& plan,
    const engine::RawEvent& raw
) {
    const auto channel = static_cast<std::size_t>(raw.channel);
    const schedule::Program& program = plan.programs[channel][static_cast<std::size_t>(rank)];
    const schedule::Op& op = program.ops[static_cast<std::size_t>(raw.op)];
    const bool received = raw.direction == trace::Direction::recv;
    const auto messages = received ? program.recvs(op) : program.sends(op);
    const schedule::Message& message = messages[static_cast<std::size_t>(raw.message)];
    // Unique per (src, dst), whatever the number of channels and of operations in a sample.
    const std::int64_t seq =
        (raw.operation * plan.most_messages + message.seq) * plan.request.channels + raw.channel;
    return {
        .case_index = point.index,
        .iteration = iteration,
        .rank = rank,
        .channel = raw.channel,
        .slice = op.slice,
        .op = raw.op,
        .step = message.step,
        .phase = op.phase,
        .direction = raw.direction,
        .peer = message.peer,
        .seq = seq,
        .chunk = op.chunk,
        .payload_bytes = raw.payload_bytes,
        .wire_bytes = raw.wire_bytes,
        .begin_ns = raw.begin_ns,
        .ready_ns = raw.ready_ns,
        .end_ns = raw.end_ns,
        .posted_ns = raw.posted_ns,
        .wait_data_ns = received ? raw.wait_ns : 0,
        .wait_credit_ns = received ? 0 : raw.wait_ns,
        .begin_ticks = raw.begin_ticks,
        .ready_ticks = raw.ready_ticks,
        .end_ticks = raw.end_ticks,
    };
}

}  // namespace

std::int64_t expected_events(
    const Experiment& experiment, const PreparedCase& prepared, int rank, std::int64_t ops
) {
    const std::int64_t operations = ops * traced_iterations(experiment, prepared);
    return operations == 0 ? 0 : operations * schedule::events_per_operation(*prepared.plan, rank);
}

Sampler::Sampler(
    const Case& point, const Experiment& experiment, PreparedCase& prepared,
    std::unique_ptr<CaseBuffers> buffers, StartGate& gate, int rank, EventStore& store,
    const clock::Line& clock
)
    : point_{point},
      experiment_{experiment},
      prepared_{prepared},
      buffers_{std::move(buffers)},
      gate_{gate},
      rank_{rank},
      store_{store},
      clock_{clock} {}

RankResult Sampler::run() {
    try {
        run_cold();
        run_warm();
    } catch (...) {
        keep_events();  // of the samples before the one that failed
        throw;
    }
    return std::move(result_);
}

void Sampler::run_cold() {
    if (experiment_.measure.cold_start) sample({.state = trace::SampleState::cold});
    for (std::int64_t i = 0; i < experiment_.measure.warmup; ++i)
        sample({.state = trace::SampleState::warmup});
}

/// The memory for the events of a block of traced samples is there before the first of them.
void Sampler::run_warm() {
    const std::int64_t traced = traced_iterations(experiment_, prepared_), most = most_operations();
    if (traced > 0) {
        result_.traced_ops = traced_operations(point_.mode, most);
        events_of_sample_ = result_.traced_ops * schedule::events_per_operation(*prepared_.plan, rank_);
        log_capacity_ = std::min(experiment_.trace.max_events_per_rank, log_size(events_of_sample_));
        events_ = engine::EventLog{log_capacity_};
    }
    for (const PlannedSample& planned : plan_samples(experiment_.measure, point_.mode, most, traced))
        sample(planned);
    keep_events();
}

/// Operations of a sample. Isolated ones that are too short for the clock are taken several at a time, as
/// many on all ranks.
std::int64_t Sampler::most_operations() {
    const auto most = static_cast<std::int64_t>(buffers_->operations().size());
    if (point_.mode != Mode::isolated || most == 1) return most;
    return std::min(most, gate_.share(operations_for_timer()));
}

std::int64_t Sampler::operations_for_timer() const {
    std::vector<double> times;
    for (const trace::SampleRow& row : result_.samples)
        times.push_back(static_cast<double>(row.exit_ns - row.enter_ns));
    if (times.empty()) return 1;
    const double shortest = static_cast<double>(host_timer().shortest_ns());
    return static_cast<std::int64_t>(std::ceil(shortest / std::max(1.0, median(times))));
}

void Sampler::sample(const PlannedSample& planned) {
    const auto iteration = static_cast<std::int64_t>(result_.samples.size());
    const std::uint64_t seed = seed_of(point_, iteration);
    trace::SampleRow row{
        .case_index = point_.index,
        .iteration = iteration,
        .rank = rank_,
        .state = planned.state,
        .traced = planned.traced,
        .ops = planned.ops};
    const auto operations = buffers_->operations().first(static_cast<std::size_t>(planned.ops));
    // Events are kept behind a block of traced samples, not between them: what that does to the caches would
    // be taken for the cost of the trace.
    if (!planned.traced || std::ssize(events_.events()) + events_of_sample_ > log_capacity_) keep_events();
    const std::size_t first_event = events_.events().size();
    buffers_->fill(planned.ops, seed);
    prepared_.collective->arm(operations, planned.traced ? &events_ : nullptr);
    const bool in_time = gate_.pass();
    const engine::Timing timing = planned.traced ? prepared_.collective->sample_traced(operations, events_)
                                                 : prepared_.collective->sample(operations);
    row.enter_ns = clock_.to_reference(timing.enter_ns);
    row.exit_ns = clock_.to_reference(timing.exit_ns);
    row.device_ns = timing.device_ns;
    if (row.state == trace::SampleState::ok) row.state = state_of(row, in_time);
    check(planned.ops, seed, row);
    result_.samples.push_back(row);
    if (!planned.traced) return;
    pending_.push_back({iteration, first_event, events_.events().size()});
    const std::int64_t error_ns =
        timing.events_error_ns + (timing.on_common_clock ? 0 : clock_.error_at(row.exit_ns));
    result_.clock_error_ns = std::max(result_.clock_error_ns, error_ns);
    result_.compared_devices = timing.on_common_clock;
    result_.device_ahead_ns = timing.device_ahead_ns;
}

/// The host's clock ran before the device's work began and after it ended, so it cannot have seen less.
trace::SampleState Sampler::state_of(const trace::SampleRow& row, bool in_time) const {
    if (!in_time) return trace::SampleState::late_start;
    if (row.device_ns == trace::not_available) return trace::SampleState::ok;
    constexpr std::int64_t event_step_ns = 1000;
    const std::int64_t seen = row.exit_ns - row.enter_ns, drift = seen / 1000;
    return row.device_ns > seen + event_step_ns + drift ? trace::SampleState::clock_moved
                                                        : trace::SampleState::ok;
}

void Sampler::check(std::int64_t ops, std::uint64_t seed, trace::SampleRow& row) {
    std::uint64_t hash = 0;
    for (std::int64_t op = 0; op < ops; ++op) {
        const verify::Verdict verdict = buffers_->check(op, seed);
        hash = hash * 31 + verdict.hash;
        if (verdict.ok()) continue;
        row.state = trace::SampleState::verify_failed;
        result_.wrong += verdict.wrong;
        if (result_.what.empty()) {
            result_.what = "iteration " + std::to_string(row.iteration) + ", " + verdict.what;
        }
    }
    result_.hashes.push_back(hash);
}

void Sampler::keep_events() {
    for (const Pending& sample : pending_)
        keep(sample.iteration, events_.events().subspan(sample.first, sample.end - sample.first));
    result_.events_dropped += events_.dropped();
    events_.clear();
    pending_.clear();
}

/// As many as there is room for.
void Sampler::keep(std::int64_t iteration, std::span<const engine::RawEvent> events) {
    const std::int64_t there = std::ssize(events);
    const std::int64_t kept = std::min(there, experiment_.trace.max_events_per_rank - store_.size());
    std::vector<trace::EventRow> rows;
    rows.reserve(static_cast<std::size_t>(kept));
    for (const engine::RawEvent& raw : events.first(static_cast<std::size_t>(kept))) {
        trace::EventRow row = event_row(point_, iteration, rank_, *prepared_.plan, raw);
        for (auto stamp :
             {&trace::EventRow::begin_ns, &trace::EventRow::ready_ns, &trace::EventRow::end_ns,
              &trace::EventRow::posted_ns}) {
            if (row.*stamp != trace::not_available) row.*stamp = clock_.to_reference(row.*stamp);
        }
        rows.push_back(row);
        result_.waited_ns += static_cast<double>(raw.wait_ns);
    }
    result_.events_kept += kept;
    result_.events_dropped += there - kept;
    store_.add(rows);
}

}  // namespace ringscope::bench
