// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "engine/host/move.hpp"
#include "reduce/stream.hpp"
#include "schedule/plan.hpp"

namespace ringscope::engine::host {

/// Protocol Simple: whole slices behind counters. Each part of an op fills one slot; the data come first,
/// then the counter, with release; the reader takes the counter with acquire, then the data.
struct Simple {
    static constexpr schedule::LinkFormat format{
        .protocol = Protocol::simple, .line_bytes = 1, .line_payload_bytes = 1, .min_parts = 2, .parts = 2};
    /// Below this a part is not worth a flag of its own.
    static constexpr std::int64_t min_part_bytes = 32768;
    static constexpr std::int64_t block_bytes = 1024;  ///< of sums on their way past the caches

    template <class Probe>
    static void play(
        const ReadyOp& op, const Buffers& buffers, Scratch& scratch, Waiter& waiter, Probe& probe
    ) {
        if (op.sends.empty() && arrives_in_place(op, buffers)) return take(op, waiter, probe);
        play_parts(op, waiter, probe, [&](schedule::Range range) {
            return move(op, range, buffers, scratch);
        });
    }

    /// The waits and posts around `move(range)`, which is called for one part after the other and says
    /// whether there was anything to move.
    template <class Probe, class Move>
    static void play_parts(const ReadyOp& op, Waiter& waiter, Probe& probe, Move move) {
        for (std::int64_t part = 0; part < op.parts; ++part) {
            play_part(op, part, waiter, probe, move);
        }
    }

 private:
    using Place = schedule::Place;

    template <class Probe, class Move>
    static void play_part(const ReadyOp& op, std::int64_t part, Waiter& waiter, Probe& probe, Move move) {
        const schedule::Range range = schedule::cut(op.bytes, op.parts, part);
        const bool first = part == 0;
        for (std::size_t i = 0; i < op.recvs.size(); ++i) {
            Inbox& inbox = *op.recvs[i].end;
            await_data(
                op, i, first, [&] { return inbox.has_message(); }, waiter, probe
            );
        }
        for (std::size_t i = 0; i < op.sends.size(); ++i) await_credit(op, i, first, waiter, probe);
        probe.moved(move(range), first, part == op.parts - 1);
        for (std::size_t i = 0; i < op.sends.size(); ++i) {
            post(*op.sends[i].end);
            probe.sent(i, range.size, range.size);
        }
        for (std::size_t i = 0; i < op.recvs.size(); ++i) {
            op.recvs[i].end->release();
            probe.received(i, range.size, range.size);
        }
    }

    /// The result comes to the output by itself.
    static bool arrives_in_place(const ReadyOp& op, const Buffers& buffers) {
        return op.recvs.size() == 1 && buffers.place(op.recvs[0]) == Place::output;
    }
    static bool stores(const ReadyOp& op, const Buffers& buffers) {
        return op.store && !arrives_in_place(op, buffers);
    }
    /// Then nothing is left to do but to wait for it; a message of one part is there when the op ends.
    template <class Probe>
    static void take(const ReadyOp& op, Waiter& waiter, Probe& probe) {
        const Port<Inbox>& port = op.recvs[0];
        for (std::int64_t part = 0; part < op.parts; ++part) {
            const std::int64_t bytes = schedule::cut(op.bytes, op.parts, part).size;
            const auto there = [&] { return port.end->has_message(); };
            if (op.parts == 1) {
                waiter.wait(there, port.where);
            } else {
                await_data(op, 0, part == 0, there, waiter, probe);
            }
            port.end->release();
            probe.received(0, bytes, bytes);
        }
    }

    static bool move(const ReadyOp& op, schedule::Range range, const Buffers& buffers, Scratch& scratch) {
        const int sources = find_sources(op, range, buffers, scratch);
        const int destinations = find_destinations(op, range, buffers, scratch);
        if (destinations == 0) return false;
        if (buffers.cached != Cached::all && only_to_outputs(op, buffers)) {
            stream(op, range, buffers, scratch, sources, destinations);
            return true;
        }
        buffers.reduce_copy(
            scratch.sources.data(), sources, scratch.destinations.data(), destinations,
            range.size / buffers.element_bytes, op.divisor
        );
        return true;
    }

    static bool only_to_outputs(const ReadyOp& op, const Buffers& buffers) {
        return std::ranges::all_of(op.sends, [&](const Port<Outbox>& send) {
            return buffers.place(send) == Place::output;
        });
    }
    /// A block at a time is summed up in the first-level cache, which is where the own result lies as well if
    /// that is to be cached, and stored past all of them. Measured on two ranks, 64 MiB: 6.5 ms by blocks of
    /// 1 KiB, 7.0 of 4 KiB or 256 bytes, for the next block's loads overlap with the last one's stores; 9.8
    /// where a block straddles cache lines.
    static void stream(
        const ReadyOp& op, schedule::Range range, const Buffers& buffers, Scratch& scratch, int sources,
        int destinations
    ) {
        const bool keeps = stores(op, buffers) && buffers.cached == Cached::own;
        const bool copies = sources == 1 && op.divisor == 0 && !keeps;
        alignas(64) std::array<std::byte, block_bytes> sums;
        for (std::int64_t at = 0; at < range.size; at += block_bytes) {
            const std::int64_t size = std::min(block_bytes, range.size - at);
            std::byte* const block = keeps ? scratch.destinations[0] + at : sums.data();
            if (!copies) {
                buffers.reduce_copy(
                    scratch.sources.data(), sources, &block, 1, size / buffers.element_bytes, op.divisor
                );
            }
            for (int d = keeps ? 1 : 0; d < destinations; ++d)
                reduce::stream_copy(copies ? scratch.sources[0] : block, scratch.destinations[d] + at, size);
            for (int s = 0; s < sources; ++s) scratch.sources[s] += size;
        }
        reduce::end_streams();
    }

    static int find_sources(
        const ReadyOp& op, schedule::Range range, const Buffers& buffers, Scratch& scratch
    ) {
        int sources = 0;
        for (std::size_t i = 0; i <= op.recvs.size(); ++i) {
            if (static_cast<std::int32_t>(i) == op.local_at)
                scratch.sources[sources++] = buffers.local(op, range.begin);
            if (i < op.recvs.size()) scratch.sources[sources++] = source(op.recvs[i], range, buffers);
        }
        return sources;
    }
    static const std::byte* source(const Port<Inbox>& port, schedule::Range range, const Buffers& buffers) {
        switch (buffers.place(port)) {
            case Place::input:
                return buffers.input + buffers.distance(port.where.peer) + range.begin;
            case Place::output:
                return buffers.output + range.begin;
            case Place::slot:
                break;
        }
        return port.end->slot();
    }

    /// The own output comes first. Nothing is left to store where the result came there by itself, nor to
    /// send where the receiver reads the input.
    static int find_destinations(
        const ReadyOp& op, schedule::Range range, const Buffers& buffers, Scratch& scratch
    ) {
        int destinations = 0;
        if (stores(op, buffers)) scratch.destinations[destinations++] = buffers.output + range.begin;
        for (const auto& send : op.sends) {
            const Place place = buffers.place(send);
            if (place == Place::input) continue;
            scratch.destinations[destinations++] =
                place == Place::slot ? send.end->slot()
                                     : buffers.output + buffers.distance(send.where.peer) + range.begin;
        }
        return destinations;
    }

    /// Release: whoever sees the counter sees the slot.
    static void post(Outbox& outbox) { outbox.box->posted.store(++outbox.count, std::memory_order_release); }
};

}  // namespace ringscope::engine::host
