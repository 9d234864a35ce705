// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_buffers.hpp"

#include <algorithm>
#include <limits>

namespace ringscope::bench {
namespace {

/// Rotating outputs of a sample take no more than this, so that long messages do not exhaust the memory.
constexpr std::int64_t sample_bytes = std::int64_t{256} << 20;

/// What a buffer takes besides its bytes, at most.
constexpr std::int64_t guards = 16384;

/// So many operations hide the launch of a graph (docs/performance-notes.md).
constexpr std::int64_t operations_per_graph = 20;

/// One, or where it may be too short for the clock so many that all of them are long enough.
std::int64_t isolated_operations(std::int64_t bytes) {
    constexpr std::int64_t short_bytes = 4096, most = 32;
    return bytes <= short_bytes ? most : 1;
}

}  // namespace

std::int64_t operations_per_sample(const Case& point, const Experiment& experiment, bool on_device) {
    if (point.mode == Mode::isolated)
        return on_device || point.in_place ? 1 : isolated_operations(point.bytes);
    const std::int64_t fit = std::max<std::int64_t>(2, sample_bytes / (point.bytes + guards));
    const std::int64_t wanted =
        point.mode == Mode::graph ? operations_per_graph : experiment.measure.iterations;
    return std::clamp<std::int64_t>(wanted, 1, fit);
}

std::int64_t buffer_bytes(const Case& point, const Experiment& experiment) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::int64_t buffers = operations_per_sample(point, experiment, false) + (point.in_place ? 0 : 1);
    if (point.bytes > most / buffers - guards) return most;
    return buffers * (point.bytes + guards);
}

std::int64_t HostBuffers::bytes_needed(const Case& point, std::int64_t operations) {
    const std::int64_t offset = point.offset * size_of(point.dtype);
    return verify::GuardLayout{point.in_place ? 0 : point.bytes, offset}.total +
           operations * verify::GuardLayout{point.bytes, offset}.total;
}

HostBuffers::HostBuffers(
    const Case& point, verify::Verifier verifier, int rank, std::int64_t operations, std::byte* memory
)
    : count_{point.count}, in_place_{point.in_place}, rank_{rank}, verifier_{std::move(verifier)} {
    const std::int64_t offset = point.offset * size_of(point.dtype);
    const auto make = [&](std::int64_t bytes) {
        if (memory == nullptr) return verify::GuardedBuffer{bytes, offset};
        std::byte* const begin = memory;
        memory += verify::GuardLayout{bytes, offset}.total;
        return verify::GuardedBuffer{bytes, offset, begin};
    };
    input_ = make(in_place_ ? 0 : point.bytes);
    for (std::int64_t i = 0; i < operations; ++i) {
        outputs_.push_back(make(point.bytes));
        std::byte* output = outputs_.back().data();
        operations_.push_back({in_place_ ? output : input_->data(), output});
    }
}

void HostBuffers::fill(std::int64_t ops, std::uint64_t seed) {
    const verify::Pattern& pattern = verifier_.pattern();
    if (!in_place_) pattern.fill(input_->data(), rank_, count_, seed);
    for (std::size_t i = 0; i < static_cast<std::size_t>(ops); ++i) {
        if (in_place_) {
            pattern.fill(outputs_[i].data(), rank_, count_, seed);
        } else {
            outputs_[i].poison();
        }
    }
}

verify::Verdict HostBuffers::check(std::int64_t op, std::uint64_t seed) {
    return verifier_.check(
        outputs_[static_cast<std::size_t>(op)], in_place_ ? nullptr : &*input_, rank_, seed
    );
}

}  // namespace ringscope::bench
