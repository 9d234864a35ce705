// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guarded_buffer.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace ringscope::verify {
namespace {

constexpr std::int64_t guard_bytes = 4096;
constexpr std::int64_t alignment = 4096;  // a multiple of 128, and whole pages

std::byte guard_at(std::int64_t index) {
    return static_cast<std::byte>((index * 167 + 89) & 0xff);
}

std::int64_t checked(std::int64_t bytes, std::int64_t offset_bytes) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (bytes < 0 || offset_bytes < 0 || offset_bytes > most ||
        bytes > most - offset_bytes - 4 * guard_bytes) {
        throw Error{
            ExitCode::internal, "a buffer of " + std::to_string(bytes) + " bytes at an offset of " +
                                    std::to_string(offset_bytes) + " bytes cannot be"};
    }
    return bytes;
}

std::byte* allocate(std::int64_t total) {
    void* const memory = std::aligned_alloc(alignment, static_cast<std::size_t>(total));
    if (memory == nullptr) {
        throw Error{
            ExitCode::out_of_memory, "no memory for a buffer of " + std::to_string(total) +
                                         " bytes; run smaller sizes or fewer ranks per host"};
    }
    return static_cast<std::byte*>(memory);
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::int64_t bytes, std::int64_t offset_bytes)
    : bytes_{checked(bytes, offset_bytes)},
      front_{guard_bytes + offset_bytes},
      total_{(end_of_data() + guard_bytes + alignment - 1) / alignment * alignment},
      memory_{allocate(total_)} {
    restore_guards();
    poison();
}

void GuardedBuffer::Free::operator()(std::byte* memory) const noexcept {
    std::free(memory);
}

void GuardedBuffer::poison() noexcept {
    std::memset(data(), 0xff, static_cast<std::size_t>(bytes_));
}

void GuardedBuffer::restore_guards() noexcept {
    std::byte* const memory = memory_.get();
    for (std::int64_t i = 0; i < front_; ++i) memory[i] = guard_at(i);
    for (std::int64_t i = end_of_data(); i < total_; ++i) memory[i] = guard_at(i);
}

std::optional<std::int64_t> GuardedBuffer::first_damage() const noexcept {
    const auto find = [&](std::int64_t from, std::int64_t to) -> std::optional<std::int64_t> {
        for (std::int64_t i = from; i < to; ++i) {
            if (memory_.get()[i] != guard_at(i)) return i - front_;
        }
        return std::nullopt;
    };
    const std::optional<std::int64_t> before = find(0, front_);
    return before ? before : find(end_of_data(), total_);
}

}  // namespace ringscope::verify
