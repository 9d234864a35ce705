// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "config/experiment.hpp"
#include "trace/rows.hpp"

namespace ringscope::bench {

/// A sample that is to be taken.
struct PlannedSample {
    trace::SampleState state = trace::SampleState::ok;
    bool traced = false;
    std::int64_t ops = 1;
    friend bool operator==(const PlannedSample&, const PlannedSample&) = default;
};

/// Where part `index` of `count` things dealt out to `parts` begins; earlier parts get the odd ones.
[[nodiscard]] constexpr std::int64_t part_begin(std::int64_t count, std::int64_t parts, std::int64_t index) {
    return (count * index + parts - 1) / parts;
}

/// Traced iterations of one block between untraced ones: enough for a median that one outlier does not move.
inline constexpr std::int64_t traced_per_block = 3;

/// Operations of a traced sample: as many as an untraced one has, but single ones where operations are
/// queued, whose events would say little.
[[nodiscard]] std::int64_t traced_operations(Mode mode, std::int64_t most);

/// The warm part of a case, in order: the timed samples, and between them the traced ones in blocks. `most`:
/// operations that a sample has, or where they are queued may have.
[[nodiscard]] std::vector<PlannedSample> plan_samples(
    const Measure& measure, Mode mode, std::int64_t most, std::int64_t traced
);

}  // namespace ringscope::bench
