// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstring>

#include "engine/host/blocks.hpp"
#include "schedule/plan.hpp"

namespace ringscope::engine::host {

/// Protocol LL: every 4 bytes of payload travel with a 32-bit flag in one 8-byte word, which is stored and
/// loaded whole. Data and flag arrive together, so relaxed order suffices and no counter is posted: one hop
/// costs one cache miss.
///
/// The flag is the number of the message on its connection, in `flag_bits` bits. A slot's words of an earlier
/// round could be taken for new ones once the numbers wrap, where the rounds between filled less of the slot.
/// Therefore in the last `slots` messages of every half of the number range the sender fills the whole slot
/// with the current flag: between any two messages of equal flag every slot has been cleaned. `clean` exists
/// so that a test can leave that out and see the wrong sums.
template <int flag_bits, bool clean = true>
class BasicLowLatency : public Blocks<BasicLowLatency<flag_bits, clean>> {
 public:
    static constexpr schedule::LinkFormat format{
        .protocol = Protocol::ll, .line_bytes = 8, .line_payload_bytes = 4, .min_parts = 1, .parts = 1};
    static constexpr std::int64_t min_part_bytes = 1;
    static constexpr std::int64_t block_bytes = 1024;

 private:
    friend Blocks<BasicLowLatency>;
    using Word = std::atomic<std::uint64_t>;
    static constexpr std::uint64_t flag_mask = (std::uint64_t{1} << flag_bits) - 1;
    static constexpr std::uint64_t half_range = std::uint64_t{1} << (flag_bits - 1);

    static const Word* words(const std::byte* slot) { return reinterpret_cast<const Word*>(slot); }
    static Word* words(std::byte* slot) { return reinterpret_cast<Word*>(slot); }
    static std::uint64_t load(const Word* word) { return word->load(std::memory_order_relaxed); }
    static std::uint32_t flag_in(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
    static std::uint32_t flag_of(const End& end) {
        return static_cast<std::uint32_t>((end.count + 1) & flag_mask);
    }

    static bool has_begun(const Inbox& inbox) { return flag_in(load(words(inbox.slot()))) == flag_of(inbox); }

    /// Every word is checked, for the order in which words become visible is not promised.
    template <class Probe>
    static void unpack(
        const ReadyOp& op, std::size_t i, std::int64_t at, std::byte* target, std::int64_t size,
        Waiter& waiter, Probe& probe
    ) {
        const Inbox& inbox = *op.recvs[i].end;
        const Word* word = words(inbox.slot()) + at / 4;
        const std::uint32_t flag = flag_of(inbox);
        const auto take = [&](std::int64_t index) {
            const std::uint64_t value = load(word + index);
            if (flag_in(value) == flag) [[likely]]
                return static_cast<std::uint32_t>(value);
            return await_word(op, i, word + index, flag, waiter, probe);
        };
        const std::int64_t whole = size / 4;
        for (std::int64_t k = 0; k < whole; ++k) put(target + 4 * k, take(k), 4);
        if (size % 4 != 0) put(target + 4 * whole, take(whole), size % 4);
    }

    /// Out of line, so that the loop around it keeps its variables in registers: measured, it halves the time
    /// of a word.
    template <class Probe>
    [[gnu::noinline]] static std::uint32_t await_word(
        const ReadyOp& op, std::size_t i, const Word* word, std::uint32_t flag, Waiter& waiter, Probe& probe
    ) {
        Blocks<BasicLowLatency>::await_rest(
            op, i, [=] { return flag_in(load(word)) == flag; }, waiter, probe
        );
        return static_cast<std::uint32_t>(load(word));
    }

    template <class Probe>
    static void pack(
        const Outbox& outbox, std::int64_t at, const std::byte* source, std::int64_t size, Probe& probe
    ) {
        Word* word = words(outbox.slot()) + at / 4;
        const std::uint64_t flag = std::uint64_t{flag_of(outbox)} << 32;
        const auto store = [&](std::int64_t index, std::uint32_t data) {
            word[index].store(data | flag, std::memory_order_relaxed);
            probe.stored(word + index, sizeof(Word));
        };
        const std::int64_t whole = size / 4;
        for (std::int64_t k = 0; k < whole; ++k) store(k, get(source + 4 * k, 4));
        if (size % 4 != 0) store(whole, get(source + 4 * whole, size % 4));
    }

    /// With a constant count, as for all words but the last, these are single instructions.
    static void put(std::byte* target, std::uint32_t data, std::int64_t count) {
        std::memcpy(target, &data, static_cast<std::size_t>(count));
    }
    static std::uint32_t get(const std::byte* source, std::int64_t count) {
        std::uint32_t data = 0;
        std::memcpy(&data, source, static_cast<std::size_t>(count));
        return data;
    }

    static void complete(const Outbox& outbox, std::int64_t wire_bytes) {
        if (clean && outbox.count % half_range >= half_range - outbox.slots)
            clean_rest(outbox, wire_bytes / 8);
    }

    static void clean_rest(const Outbox& outbox, std::int64_t used_words) {
        Word* word = words(outbox.slot());
        const std::uint64_t flag = std::uint64_t{flag_of(outbox)} << 32;
        for (std::int64_t i = used_words; i < outbox.slot_bytes / 8; ++i)
            word[i].store(flag, std::memory_order_relaxed);
    }
};

using LowLatency = BasicLowLatency<32>;

}  // namespace ringscope::engine::host
