// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ringscope/abi.h"
#include "schedule/place.hpp"

namespace ringscope::schedule {

/// One message of an op, as one end sees it.
struct Message {
    std::int32_t peer = 0;
    std::int32_t step = 0;      ///< the hop it makes, from 0; a receive carries its sender's step
    std::int64_t seq = 0;       ///< running number on its (src, dst, channel); pairs the two ends
    Place place = Place::slot;  ///< in user buffers only where peers reach each other's (placement.hpp)
};

/// One op on one chunk: ranges of chunks are unrolled when a schedule is recorded.
struct Op {
    std::int64_t slice = 0;
    std::int32_t chunk = 0;
    std::int32_t local = RINGSCOPE_LOCAL_NONE;
    std::int32_t local_at = 0;
    std::int32_t phase = 0;
    std::int32_t recv_count = 0, send_count = 0;
    std::int32_t first_message = 0;  ///< in Program::messages: the receives, then the sends
    bool store = false, finish = false;
};

/// What one rank does on one channel, in order. Plain arrays, so that it can be copied to a device as it is.
struct Program {
    std::vector<Op> ops;
    std::vector<Message> messages;

    [[nodiscard]] std::span<const Message> recvs(const Op& op) const {
        return {messages.data() + op.first_message, static_cast<std::size_t>(op.recv_count)};
    }
    [[nodiscard]] std::span<const Message> sends(const Op& op) const {
        return {messages.data() + op.first_message + op.recv_count, static_cast<std::size_t>(op.send_count)};
    }
};

/// Chunks that the algorithm cuts a message into at this place, its rank and channel aside; 0 where it does
/// not support the number of ranks or the options.
[[nodiscard]] std::int32_t chunks_at(const ringscope_algorithm& algorithm, const ringscope_place& place);

/// Plays the algorithm at one place and keeps its ops, checked one by one (peers in range and distinct,
/// chunks and slices in range, something to read). Throws Error: wrong_result for an op that makes no sense,
/// internal for a plugin that threw.
[[nodiscard]] Program record(const ringscope_algorithm& algorithm, const ringscope_place& place);

}  // namespace ringscope::schedule
