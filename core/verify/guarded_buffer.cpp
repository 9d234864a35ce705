// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guarded_buffer.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace ringscope::verify {
namespace {

void check(std::int64_t bytes, std::int64_t offset_bytes) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (bytes < 0 || offset_bytes < 0 || offset_bytes > most ||
        bytes > most - offset_bytes - 4 * guard_bytes) {
        throw Error{
            ExitCode::internal, "a buffer of " + std::to_string(bytes) + " bytes at an offset of " +
                                    std::to_string(offset_bytes) + " bytes cannot be"};
    }
}

std::byte* allocate(std::int64_t total) {
    void* const memory = std::aligned_alloc(guard_alignment, static_cast<std::size_t>(total));
    if (memory == nullptr) {
        throw Error{
            ExitCode::out_of_memory, "no memory for a buffer of " + std::to_string(total) +
                                         " bytes; run smaller sizes or fewer ranks per host"};
    }
    return static_cast<std::byte*>(memory);
}

}  // namespace

GuardLayout::GuardLayout(std::int64_t bytes_of_data, std::int64_t offset_bytes) {
    check(bytes_of_data, offset_bytes);
    front = guard_bytes + offset_bytes;
    bytes = bytes_of_data;
    total = (end_of_data() + guard_bytes + guard_alignment - 1) / guard_alignment * guard_alignment;
}

GuardedBuffer::GuardedBuffer(std::int64_t bytes, std::int64_t offset_bytes)
    : layout_{bytes, offset_bytes}, memory_{allocate(layout_.total), std::free} {
    restore_guards();
    poison();
}

GuardedBuffer::GuardedBuffer(std::int64_t bytes, std::int64_t offset_bytes, std::byte* memory)
    : layout_{bytes, offset_bytes}, memory_{memory, [](void*) {}} {
    restore_guards();
    poison();
}

void GuardedBuffer::poison() noexcept {
    std::memset(data(), 0xff, static_cast<std::size_t>(layout_.bytes));
}

void GuardedBuffer::restore_guards() noexcept {
    for (std::int64_t i = 0; i < layout_.bytes_of_guards(); ++i) {
        const std::int64_t index = layout_.guard_index(i);
        memory_.get()[index] = guard_at(index);
    }
}

std::optional<std::int64_t> GuardedBuffer::first_damage() const noexcept {
    for (std::int64_t i = 0; i < layout_.bytes_of_guards(); ++i) {
        const std::int64_t index = layout_.guard_index(i);
        if (memory_.get()[index] != guard_at(index)) return index - layout_.front;
    }
    return std::nullopt;
}

}  // namespace ringscope::verify
