// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "ringscope/abi.h"
#include "schedule/cut.hpp"
#include "schedule/program.hpp"

namespace ringscope::schedule {

/// How a protocol moves a message over a link of an engine. Fixed by the engine, used by the planner and the
/// ledger.
struct LinkFormat {
    Protocol protocol = Protocol::simple;
    std::int64_t line_bytes = 1;          ///< wire bytes of one line: a slice takes whole lines
    std::int64_t line_payload_bytes = 1;  ///< payload bytes of one line
    std::int64_t min_parts = 1;  ///< an op is played in at least so many parts (Simple: 2, to hide latency)
    std::int64_t parts = 1;      ///< and in so many where the slots allow it

    [[nodiscard]] constexpr std::int64_t wire_bytes(std::int64_t payload_bytes) const {
        return (payload_bytes + line_payload_bytes - 1) / line_payload_bytes * line_bytes;
    }
    /// Payload that fits into a slot of so many wire bytes, in whole cut units.
    [[nodiscard]] constexpr std::int64_t slot_payload(std::int64_t slot_bytes) const {
        return slot_bytes / line_bytes * line_payload_bytes / cut_unit * cut_unit;
    }
};

struct PlanRequest {
    std::int32_t ranks = 0;
    std::int64_t bytes = 0;
    std::int32_t channels = 1;
    std::int64_t slots = 0;       ///< of every connection
    std::int64_t slot_bytes = 0;  ///< on the wire; a plan's are whole lines
    LinkFormat link{};
    Direct direct = Direct::all;          ///< with protocol Simple, whose bytes have no flags between them
    std::vector<std::int64_t> options{};  ///< of the algorithm, all of them in order; empty: as usual
};

/// What a plugin is asked for a rank of this request, on channel 0, for the whole chunk.
[[nodiscard]] ringscope_place place_of(const PlanRequest& request, std::int32_t rank);

/// Chunks that the algorithm cuts a message into. Throws Error (usage) where it does not support this number
/// of ranks with these options.
[[nodiscard]] std::int32_t chunks_of(const ringscope_algorithm& algorithm, const PlanRequest& request);

/// The values of an algorithm's options where a user sets none.
[[nodiscard]] std::vector<std::int64_t> usual_options(const ringscope_algorithm& algorithm);

/// A schedule fitted to a message: the recorded and numbered programs of all ranks, and how the message is
/// cut.
struct Plan {
    PlanRequest request;
    std::int32_t chunks = 1;
    std::int64_t slices = 1;
    std::int64_t parts = 1;
    std::vector<std::int32_t> members;           ///< ranks that contribute and receive, in ascending order
    std::int64_t most_messages = 0;              ///< over one link in one channel
    std::int32_t steps = 0;                      ///< hops on the longest path: 2(N-1) for a ring
    std::vector<std::vector<Program>> programs;  ///< [channel][rank]

    /// The bytes of the message that an op on this chunk and slice concerns. May be empty: then the op is
    /// skipped by all.
    [[nodiscard]] Range piece(std::int32_t channel, std::int32_t chunk, std::int64_t slice) const;
    [[nodiscard]] Range piece(std::int32_t channel, const Op& op) const {
        return piece(channel, op.chunk, op.slice);
    }
};

/// Cuts the message, records all ranks' programs, proves them (every output holds every rank once) and
/// rehearses them with the slots there are. Throws Error: wrong_result for a schedule that is no all-reduce,
/// usage when it would deadlock with these slots (naming the cycle), does not support this number of ranks,
/// or when a slot does not hold a line, internal for a plugin that threw.
[[nodiscard]] Plan make_plan(const ringscope_algorithm& algorithm, const PlanRequest& request);

/// Parts that an op on so many bytes is played in. A short one is played in one piece, which is not worth two
/// flags; where one slot does not hold it, in the plan's parts.
[[nodiscard]] std::int64_t parts_of(const Plan& plan, std::int64_t bytes, std::int64_t min_part_bytes);

/// Rows that tracing one operation gives on a rank: one per op, direction and peer, for ops that move
/// something.
[[nodiscard]] std::int64_t events_per_operation(const Plan& plan, std::int32_t rank);

}  // namespace ringscope::schedule
