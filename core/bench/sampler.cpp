// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/sampler.hpp"

#include <algorithm>

#include "base/time.hpp"

namespace ringscope::bench {
namespace {

/// Rotating outputs of a batch take no more than this, so that long messages do not exhaust the memory.
constexpr std::int64_t batch_bytes = std::int64_t{256} << 20;

std::uint64_t seed_of(const Case& point, std::int64_t iteration) {
    return static_cast<std::uint64_t>(point.index) * 1'000'003 + static_cast<std::uint64_t>(iteration);
}

/// Operations of one sample: one where they are isolated, all (as far as the outputs fit into memory) back to
/// back.
std::int64_t operations_per_batch(const Case& point, const Experiment& experiment) {
    if (point.mode == Mode::isolated) return 1;
    const std::int64_t fit = std::max<std::int64_t>(2, batch_bytes / std::max<std::int64_t>(point.bytes, 1));
    return std::clamp<std::int64_t>(experiment.measure.iterations, 1, fit);
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
        .begin_ticks = raw.begin_ns,
        .ready_ticks = raw.ready_ns,
        .end_ticks = raw.end_ns,
    };
}

}  // namespace

std::int64_t expected_events(const Experiment& experiment, const PreparedCase& prepared, int rank) {
    if (!experiment.trace.enabled || !prepared.traced) return 0;
    return experiment.trace.iterations * schedule::events_per_operation(*prepared.plan, rank);
}

std::int64_t buffer_bytes(const Case& point, const Experiment& experiment) {
    constexpr std::int64_t guards = 16384;
    const std::int64_t buffers = operations_per_batch(point, experiment) + (point.in_place ? 0 : 1);
    return buffers * (point.bytes + guards);
}

Sampler::Sampler(
    const Case& point, const Experiment& experiment, PreparedCase& prepared, StartGate& gate, int rank,
    int ranks
)
    : point_{point},
      experiment_{experiment},
      prepared_{prepared},
      gate_{gate},
      rank_{rank},
      verifier_{verify::Pattern{point.dtype, point.op, ranks, experiment.verify}},
      input_{point.in_place ? 0 : point.bytes, point.offset * size_of(point.dtype)},
      events_{std::min(experiment.trace.max_events_per_rank, expected_events(experiment, prepared, rank))} {
    for (std::int64_t i = 0; i < operations_per_batch(point, experiment); ++i) {
        outputs_.emplace_back(point.bytes, point.offset * size_of(point.dtype));
    }
}

RankResult Sampler::run() {
    run_untraced();
    run_traced();
    return std::move(result_);
}

void Sampler::run_untraced() {
    if (experiment_.measure.cold_start) sample({.state = trace::SampleState::cold});
    for (std::int64_t i = 0; i < experiment_.measure.warmup; ++i)
        sample({.state = trace::SampleState::warmup});
    for (std::int64_t done = 0; done < experiment_.measure.iterations;) {
        const std::int64_t ops =
            std::min(operations_per_batch(point_, experiment_), experiment_.measure.iterations - done);
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
    fill(kind.ops, seed);
    const bool in_time = gate_.pass();
    row.enter_ns = now_ns();
    operate(kind);
    row.exit_ns = now_ns();
    if (!in_time && row.state == trace::SampleState::ok) row.state = trace::SampleState::late_start;
    check(kind.ops, seed, row);
    result_.samples.push_back(row);
    if (kind.traced) keep_events(iteration);
}

void Sampler::fill(std::int64_t ops, std::uint64_t seed) {
    const verify::Pattern& pattern = verifier_.pattern();
    if (!point_.in_place) pattern.fill(input_.data(), rank_, point_.count, seed);
    for (std::size_t i = 0; i < static_cast<std::size_t>(ops); ++i) {
        if (point_.in_place) {
            pattern.fill(outputs_[i].data(), rank_, point_.count, seed);
        } else {
            outputs_[i].poison();
        }
    }
}

void Sampler::operate(const Kind& kind) {
    if (kind.traced) return prepared_.collective->run_traced(input_of(0), outputs_[0].data(), events_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kind.ops); ++i) {
        prepared_.collective->run(input_of(i), outputs_[i].data());
    }
}

const std::byte* Sampler::input_of(std::size_t op) const {
    return point_.in_place ? outputs_[op].data() : input_.data();
}

void Sampler::check(std::int64_t ops, std::uint64_t seed, trace::SampleRow& row) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(ops); ++i) {
        const verify::Verdict verdict =
            verifier_.check(outputs_[i], point_.in_place ? nullptr : &input_, rank_, seed);
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
