// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstring>

#include "engine/host/blocks.hpp"
#include "schedule/plan.hpp"

namespace ringscope::engine::host {

/// Protocol LL128: a line of 128 bytes is 120 of payload and a flag of 8. A GPU stores such a line at once;
/// no CPU does. Here the data are stored first, then the flag with release, and the reader takes the flag
/// with acquire, then the data.
///
/// The flag is the number of the message on its connection, in 64 bits: it does not wrap, so what an earlier
/// round left in a slot never matches. `flag_last` exists so that a test can store the flag first and see the
/// wrong sums.
template <bool flag_last = true>
class BasicLowLatency128 : public Blocks<BasicLowLatency128<flag_last>> {
 public:
    static constexpr schedule::LinkFormat format{
        .protocol = Protocol::ll128,
        .line_bytes = 128,
        .line_payload_bytes = 120,
        .min_parts = 1,
        .parts = 1};
    static constexpr std::int64_t min_part_bytes = 1;
    static constexpr std::int64_t block_bytes = 16 * format.line_payload_bytes;

 private:
    friend Blocks<BasicLowLatency128>;

    /// The planner cuts slots to whole lines, so that they are aligned.
    struct alignas(128) Line {
        std::array<std::byte, 120> payload;
        std::atomic<std::uint64_t> flag;
    };
    static_assert(sizeof(Line) == format.line_bytes);

    static const Line* lines(const std::byte* slot) { return reinterpret_cast<const Line*>(slot); }
    static Line* lines(std::byte* slot) { return reinterpret_cast<Line*>(slot); }
    static std::uint64_t flag_of(const End& end) { return end.count + 1; }
    static bool has_flag(const Line& line, std::uint64_t flag) {
        return line.flag.load(std::memory_order_acquire) == flag;
    }

    static bool has_begun(const Inbox& inbox) { return has_flag(*lines(inbox.slot()), flag_of(inbox)); }

    template <class Probe>
    static void unpack(
        const ReadyOp& op, std::size_t i, std::int64_t at, std::byte* target, std::int64_t size,
        Waiter& waiter, Probe& probe
    ) {
        const Inbox& inbox = *op.recvs[i].end;
        const Line* line = lines(inbox.slot()) + at / format.line_payload_bytes;
        const std::uint64_t flag = flag_of(inbox);
        for (std::int64_t done = 0; done < size; done += format.line_payload_bytes, ++line) {
            if (!has_flag(*line, flag)) [[unlikely]]
                Blocks<BasicLowLatency128>::await_rest(
                    op, i, [=] { return has_flag(*line, flag); }, waiter, probe
                );
            copy(target + done, line->payload.data(), size - done);
        }
    }

    template <class Probe>
    static void pack(
        const Outbox& outbox, std::int64_t at, const std::byte* source, std::int64_t size, Probe& probe
    ) {
        Line* line = lines(outbox.slot()) + at / format.line_payload_bytes;
        const std::uint64_t flag = flag_of(outbox);
        for (std::int64_t done = 0; done < size; done += format.line_payload_bytes, ++line) {
            if constexpr (!flag_last) announce(*line, flag, probe);
            if (size - done < format.line_payload_bytes) line->payload.fill(std::byte{0});
            copy(line->payload.data(), source + done, size - done);
            if constexpr (flag_last) announce(*line, flag, probe);
        }
    }

    /// Release: whoever sees the flag sees the line.
    template <class Probe>
    static void announce(Line& line, std::uint64_t flag, Probe& probe) {
        line.flag.store(flag, std::memory_order_release);
        probe.stored(&line, format.line_bytes);
    }

    /// A line's payload, or so many bytes as are left. With a constant count a copy is a few instructions.
    static void copy(std::byte* target, const std::byte* source, std::int64_t left) {
        if (left >= format.line_payload_bytes) {
            std::memcpy(target, source, format.line_payload_bytes);
        } else {
            std::memcpy(target, source, static_cast<std::size_t>(left));
        }
    }

    static void complete(const Outbox&, std::int64_t) {}
};

using LowLatency128 = BasicLowLatency128<>;

}  // namespace ringscope::engine::host
