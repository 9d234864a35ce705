// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "engine/host/move.hpp"

namespace ringscope::engine::host {

/// How a protocol whose lines carry flags plays an op: in blocks, which are unpacked, reduced and packed
/// again while they are in the L1 cache. The protocol `Link` derives from this and has
///
///   has_begun(inbox)                  whether the first line of the next message is there
///   unpack(op, i, at, target, size)   waits for the lines of bytes at .. at+size of receive i, and takes
///   them pack(outbox, at, source, size)    stores the lines of these bytes complete(outbox, wire_bytes) what
///   is left to do when the whole message is stored
///
/// and `block_bytes`: payload of whole lines, a multiple of 16.
template <class Link>
class Blocks {
 public:
    /// Out of line, so that its loops have the registers for themselves whatever is around them: measured, a
    /// tenth of the time of LL.
    template <class Probe>
    [[gnu::noinline]] static void play(
        const ReadyOp& op, const Buffers& buffers, Scratch& scratch, Waiter& waiter, Probe& probe
    ) {
        for (std::size_t i = 0; i < op.recvs.size(); ++i) {
            await_data(
                op, i, true, [&] { return Link::has_begun(*op.recvs[i].end); }, waiter, probe
            );
        }
        for (std::size_t i = 0; i < op.sends.size(); ++i) await_credit(op, i, true, waiter, probe);
        for (std::int64_t at = 0; at < op.bytes.size; at += Link::block_bytes) {
            const std::int64_t size = std::min(Link::block_bytes, op.bytes.size - at);
            play_block(op, at, size, buffers, scratch, waiter, probe);
        }
        finish(op, probe);
    }

 protected:
    /// A wait in the middle of a message: what was done until here was no waiting.
    template <class Ready, class Probe>
    static void await_rest(const ReadyOp& op, std::size_t i, Ready ready, Waiter& waiter, Probe& probe) {
        probe.moved(true, false, false);
        await_data(op, i, false, ready, waiter, probe);
    }

 private:
    /// Bytes at .. at+size of the message: unpack what is received, reduce, pack what is sent.
    template <class Probe>
    static void play_block(
        const ReadyOp& op, std::int64_t at, std::int64_t size, const Buffers& buffers, Scratch& scratch,
        Waiter& waiter, Probe& probe
    ) {
        const std::int64_t begin = op.bytes.begin + at;
        std::byte* block = scratch.blocks.data();
        std::byte* stored = op.store ? buffers.output + begin : nullptr;
        const bool copies = op.recvs.size() + (op.local_at >= 0 ? 1 : 0) == 1 && op.divisor == 0;
        int sources = 0;
        for (std::size_t i = 0; i <= op.recvs.size(); ++i) {
            if (static_cast<std::int32_t>(i) == op.local_at)
                scratch.sources[sources++] = buffers.local(op, begin);
            if (i == op.recvs.size()) break;
            std::byte* target = copies && stored != nullptr ? stored : (block += Link::block_bytes);
            Link::unpack(op, i, at, target, size, waiter, probe);
            scratch.sources[sources++] = target;
        }
        const std::byte* result = scratch.sources[0];
        if (!copies || (stored != nullptr && result != stored)) {
            std::byte* destination = stored != nullptr ? stored : scratch.blocks.data();
            buffers.reduce_copy(
                scratch.sources.data(), sources, &destination, 1, size / buffers.element_bytes, op.divisor
            );
            result = destination;
        }
        for (const auto& send : op.sends) Link::pack(*send.end, at, result, size, probe);
    }

    template <class Probe>
    static void finish(const ReadyOp& op, Probe& probe) {
        const std::int64_t wire = Link::format.wire_bytes(op.bytes.size);
        probe.moved(true, false, true);
        for (std::size_t i = 0; i < op.sends.size(); ++i) {
            Outbox& outbox = *op.sends[i].end;
            Link::complete(outbox, wire);
            ++outbox.count;
            probe.sent(i, op.bytes.size, wire);
        }
        for (std::size_t i = 0; i < op.recvs.size(); ++i) {
            op.recvs[i].end->release();
            probe.received(i, op.bytes.size, wire);
        }
    }
};

}  // namespace ringscope::engine::host
