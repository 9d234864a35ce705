// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/rows.hpp"

namespace ringscope::bench {

/// What one rank has of a case after it ran, besides its events.
struct RankResult {
    std::vector<trace::SampleRow> samples;
    std::vector<std::uint64_t> hashes;  ///< of the outputs, one per sample
    std::int64_t clock_error_ns = 0;    ///< of the events' stamps
    bool compared_devices = false;      ///< right after the last traced sample, and its GPU's clock was
    std::int64_t device_ahead_ns = 0;   ///< so much ahead of rank 0's host's
    std::int64_t traced_ops = 1;        ///< operations of a traced sample
    std::int64_t events_kept = 0, events_dropped = 0;
    double waited_ns = 0;  ///< within the events that were kept
    std::int64_t wrong = 0;
    std::string what;                      ///< the first wrong thing, in words
    std::vector<trace::HealthRow> health;  ///< of its devices, right after the last sample
};

/// As bytes, for the way to rank 0 of the same program.
[[nodiscard]] std::string pack(const RankResult& result);
[[nodiscard]] RankResult unpack(const std::string& bytes);

}  // namespace ringscope::bench
