// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/sampler.hpp"

#include <algorithm>

namespace ringscope::bench {
namespace {

std::uint64_t seed_of(const Case& point, std::int64_t iteration) {
    return static_cast<std::uint64_t>(point.index) * 1'000'003 + static_cast<std::uint64_t>(iteration);
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
        // Unique per (src, dst), whatever the number of channels.
        .seq = message.seq * plan.request.channels + raw.channel,
        .chunk = op.chunk,
        .payload_bytes = raw.payload_bytes,
        .wire_bytes = raw.wire_bytes,
        .begin_ns = raw.begin_ns,
        .ready_ns = raw.ready_ns,
        .end_ns = raw.end_ns,
        .wait_data_ns = received ? raw.wait_ns : 0,
        .wait_credit_ns = received ? 0 : raw.wait_ns,
        .begin_ticks = raw.begin_ticks,
        .ready_ticks = raw.ready_ticks,
        .end_ticks = raw.end_ticks,
    };
}

}  // namespace

std::int64_t expected_events(const Experiment& experiment, const PreparedCase& prepared, int rank) {
    if (!experiment.trace.enabled || !prepared.traced) return 0;
    return experiment.trace.iterations * schedule::events_per_operation(*prepared.plan, rank);
}

Sampler::Sampler(
    const Case& point, const Experiment& experiment, PreparedCase& prepared,
    std::unique_ptr<CaseBuffers> buffers, StartGate& gate, int rank
)
    : point_{point},
      experiment_{experiment},
      prepared_{prepared},
      buffers_{std::move(buffers)},
      gate_{gate},
      rank_{rank},
      events_{std::min(experiment.trace.max_events_per_rank, expected_events(experiment, prepared, rank))} {}

RankResult Sampler::run() {
    run_untraced();
    run_traced();
    return std::move(result_);
}

void Sampler::run_untraced() {
    if (experiment_.measure.cold_start) sample({.state = trace::SampleState::cold});
    for (std::int64_t i = 0; i < experiment_.measure.warmup; ++i)
        sample({.state = trace::SampleState::warmup});
    const auto most = static_cast<std::int64_t>(buffers_->operations().size());
    if (point_.mode == Mode::graph) {
        for (std::int64_t i = 0; i < experiment_.measure.iterations; ++i) sample({.ops = most});
        return;
    }
    for (std::int64_t done = 0; done < experiment_.measure.iterations;) {
        const std::int64_t ops = std::min(most, experiment_.measure.iterations - done);
        sample({.ops = ops});
        done += ops;
    }
}

void Sampler::run_traced() {
    if (!experiment_.trace.enabled || !prepared_.traced) return;
    for (std::int64_t i = 0; i < experiment_.trace.iterations; ++i) sample({.traced = true});
    result_.events_dropped = events_.dropped();
}

void Sampler::sample(const Kind& kind) {
    const auto iteration = static_cast<std::int64_t>(result_.samples.size());
    const std::uint64_t seed = seed_of(point_, iteration);
    trace::SampleRow row{
        .case_index = point_.index,
        .iteration = iteration,
        .rank = rank_,
        .state = kind.state,
        .traced = kind.traced,
        .ops = kind.ops};
    const auto operations = buffers_->operations().first(static_cast<std::size_t>(kind.ops));
    buffers_->fill(kind.ops, seed);
    if (!kind.traced) prepared_.collective->arm(operations);
    const bool in_time = gate_.pass();
    const engine::Timing timing = kind.traced ? prepared_.collective->sample_traced(operations[0], events_)
                                              : prepared_.collective->sample(operations);
    row.enter_ns = timing.enter_ns;
    row.exit_ns = timing.exit_ns;
    row.device_ns = timing.device_ns;
    if (!in_time && row.state == trace::SampleState::ok) row.state = trace::SampleState::late_start;
    check(kind.ops, seed, row);
    result_.samples.push_back(row);
    if (kind.traced) keep_events(iteration);
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

void Sampler::keep_events(std::int64_t iteration) {
    for (const engine::RawEvent& raw : events_.events().subspan(result_.events.size())) {
        result_.events.push_back(event_row(point_, iteration, rank_, *prepared_.plan, raw));
    }
}

}  // namespace ringscope::bench
