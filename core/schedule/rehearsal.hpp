// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "schedule/program.hpp"

namespace ringscope::schedule {

/// How connections behave in a rehearsal: each is a FIFO of `slots`, and an op is played in `parts` pieces,
/// each of which takes a slot of its own.
struct Connections {
    std::int64_t slots = 0;
    std::int64_t parts = 1;
};

inline constexpr std::int64_t unlimited_slots = std::int64_t{1} << 40;

/// A rank that cannot go on, and the one it waits for.
struct Wait {
    std::int32_t rank = 0;
    std::int32_t peer = 0;
    bool for_credit = false;  ///< for a free slot at the peer, else for a message from it
    std::int64_t op = 0;
    std::int64_t slice = 0;
    std::int32_t chunk = 0;
};

/// How a rehearsal ended.
struct Ending {
    std::vector<Wait> cycle;              ///< ranks that wait for each other in a circle: a deadlock
    std::vector<std::string> mismatches;  ///< a message that nobody sends or nobody receives

    [[nodiscard]] bool complete() const { return cycle.empty() && mismatches.empty(); }
    [[nodiscard]] std::string text() const;
};

/// Plays the programs of all ranks of one channel against each other in an abstract machine. A wait is always
/// for a named peer's next message, and a connection has one writer, so execution is confluent: one play
/// decides whether the programs can deadlock with these connections. `on_op(rank, op)` is called for each
/// finished op, in an order in which every message is sent before it is received.
Ending rehearse(
    std::span<const Program> programs, Connections connections,
    const std::function<void(std::int32_t rank, const Op& op)>& on_op = {}
);

/// Fills step and seq of every message. A send without a receive before it makes hop 0; a message that passes
/// on what came by hop s makes hop s + 1. Returns the number of steps. The programs must fit together.
std::int32_t number_messages(std::span<Program> programs, std::int32_t chunks);

}  // namespace ringscope::schedule
