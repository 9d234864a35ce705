// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/sample_plan.hpp"

#include <algorithm>

namespace ringscope::bench {
namespace {

/// `iterations` counts samples, each of `most` operations; of queued ones the operations.
std::vector<PlannedSample> timed_samples(const Measure& measure, Mode mode, std::int64_t most) {
    std::vector<PlannedSample> samples;
    for (std::int64_t done = 0; done < measure.iterations;) {
        const bool queued = mode == Mode::back_to_back;
        const std::int64_t ops = queued ? std::min(most, measure.iterations - done) : most;
        samples.push_back({.ops = ops});
        done += queued ? ops : 1;
    }
    return samples;
}

}  // namespace

std::int64_t traced_operations(Mode mode, std::int64_t most) {
    return mode == Mode::back_to_back ? 1 : most;
}

std::vector<PlannedSample> plan_samples(
    const Measure& measure, Mode mode, std::int64_t most, std::int64_t traced
) {
    const std::vector<PlannedSample> timed = timed_samples(measure, mode, most);
    const std::int64_t blocks = (traced + traced_per_block - 1) / traced_per_block;
    std::vector<PlannedSample> plan;
    for (std::int64_t block = 0; block <= blocks; ++block) {
        const auto part = [&](std::int64_t b) { return part_begin(std::ssize(timed), blocks + 1, b); };
        plan.insert(plan.end(), timed.begin() + part(block), timed.begin() + part(block + 1));
        if (block == blocks) break;
        const std::int64_t number = part_begin(traced, blocks, block + 1) - part_begin(traced, blocks, block);
        plan.insert(
            plan.end(), static_cast<std::size_t>(number),
            {.traced = true, .ops = traced_operations(mode, most)}
        );
    }
    return plan;
}

}  // namespace ringscope::bench
