// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/host/mailbox.hpp"
#include "engine/host/wait.hpp"
#include "reduce/reduce.hpp"
#include "schedule/cut.hpp"
#include "schedule/program.hpp"

namespace ringscope::engine::host {

/// One end of an op's message: the connection, and what a report says of it.
template <class End>
struct Port {
    End* end = nullptr;
    Where where;
    schedule::Place place = schedule::Place::slot;  ///< where the peers reach each other's buffers
};

/// An op made ready to run: pointers instead of ranks, bytes instead of chunks. Ops that move nothing are
/// left out.
struct ReadyOp {
    std::int32_t channel = 0;
    std::int32_t index = 0;  ///< in the program
    std::vector<Port<Inbox>> recvs;
    std::vector<Port<Outbox>> sends;
    std::int32_t local_at = -1;  ///< place of the own contribution among the sources; -1: none
    bool local_is_output = false, store = false;
    std::int32_t divisor = 0;  ///< > 0 where an avg is finished
    schedule::Range bytes;     ///< of the message
    std::int64_t parts = 1;
};

/// Which results are stored by way of the caches; the others go past them.
enum class Cached : std::uint8_t { all, own, none };

/// What is the same for all ops of a run.
struct Buffers {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    std::int64_t element_bytes = 1;
    reduce::ReduceCopy reduce_copy = nullptr;
    Cached cached = Cached::all;
    /// How far each rank's buffers are from this one's; empty where they are out of reach.
    std::span<const std::ptrdiff_t> distances{};

    /// Where a message lies.
    template <class End>
    [[nodiscard]] schedule::Place place(const Port<End>& port) const {
        return distances.empty() ? schedule::Place::slot : port.place;
    }
    [[nodiscard]] std::ptrdiff_t distance(std::int32_t peer) const {
        return distances[static_cast<std::size_t>(peer)];
    }
    [[nodiscard]] const std::byte* local(const ReadyOp& op, std::int64_t begin) const {
        return (op.local_is_output ? output : input) + begin;
    }
};

/// Memory for the sources and destinations of one op, so that the timed path allocates nothing.
struct Scratch {
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> destinations;
    std::vector<std::byte> blocks;  ///< unpacked LL blocks, one per source and one for the result

    explicit Scratch(std::size_t peers, std::size_t block_bytes)
        : sources(peers + 1), destinations(peers + 1), blocks((peers + 2) * block_bytes) {}
};

/// Waits until a message's data are there. The probe is told of an op's first part, and later where it really
/// waited.
template <class Ready, class Probe>
void await_data(const ReadyOp& op, std::size_t i, bool first, Ready ready, Waiter& waiter, Probe& probe) {
    const bool there = ready();
    if (!there) {
        probe.waiting();
        waiter.wait(ready, op.recvs[i].where);
    }
    if (first || !there) probe.data_ready(i, first);
}

/// The same for a slot to send from.
template <class Probe>
void await_credit(const ReadyOp& op, std::size_t i, bool first, Waiter& waiter, Probe& probe) {
    Outbox& outbox = *op.sends[i].end;
    const auto ready = [&] { return outbox.has_credit(); };
    const bool there = ready();
    if (!there) {
        probe.waiting();
        waiter.wait(ready, op.sends[i].where);
    }
    if (first || !there) probe.credit_ready(i, first, !there);
}

}  // namespace ringscope::engine::host
