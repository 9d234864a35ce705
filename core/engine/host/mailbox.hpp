// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringscope::engine::host {

/// The head of a directed connection's memory, which lies in the receiver's window: two counters with one
/// writer each, on cache-line pairs of their own, and then the slots. Zeroed memory is an empty connection.
struct Mailbox {
    alignas(128) std::atomic<std::uint64_t> posted;  ///< written by the sender: slots filled so far
    alignas(128
    ) std::atomic<std::uint64_t> consumed;  ///< written by the receiver: slots free again (credits)

    [[nodiscard]] std::byte* slots() { return reinterpret_cast<std::byte*>(this) + sizeof(Mailbox); }
    [[nodiscard]] static constexpr std::int64_t bytes(std::int64_t slots, std::int64_t slot_bytes) {
        return static_cast<std::int64_t>(sizeof(Mailbox)) + (slots * slot_bytes + 127) / 128 * 128;
    }
};

/// One end of a connection, private to its rank. Its counter lives on across operations.
struct End {
    Mailbox* box = nullptr;
    std::byte* first_slot = nullptr;  ///< behind the mailbox, or where else an engine has its slots
    std::uint64_t count = 0;          ///< slots this end has posted or consumed
    std::uint64_t seen = 0;           ///< the other end's counter when it was last read
    std::uint64_t slots = 0;
    std::int64_t slot_bytes = 0;

    [[nodiscard]] std::byte* slot() const {
        return first_slot + static_cast<std::int64_t>(count % slots) * slot_bytes;
    }
};

/// The sender's end.
struct Outbox : End {
    [[nodiscard]] bool has_credit() {
        if (count - seen < slots) return true;
        seen = box->consumed.load(std::memory_order_acquire);
        return count - seen < slots;
    }
};

/// The receiver's end.
struct Inbox : End {
    /// Acquire, for what the receiver reads of the slot afterwards.
    [[nodiscard]] bool has_message() {
        if (seen != count) return true;
        seen = box->posted.load(std::memory_order_acquire);
        return seen != count;
    }
    /// Release: the slot may be overwritten once the sender sees this, so all reads of it come before.
    void release() { box->consumed.store(++count, std::memory_order_release); }
};

}  // namespace ringscope::engine::host
