// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce/stream.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace ringscope::reduce {

#if defined(__x86_64__)

namespace {

constexpr std::int64_t line = 64;

/// Whole lines: a part of one that is written past the caches takes longer than all of it.
void stream_line(const std::byte* from, std::byte* to) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
}

}  // namespace

void stream_copy(const std::byte* from, std::byte* to, std::int64_t bytes) noexcept {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to));
    const std::int64_t head = std::min(bytes, (line - address % line) % line);
    std::memcpy(to, from, static_cast<std::size_t>(head));
    std::int64_t at = head;
    for (; at + line <= bytes; at += line) stream_line(from + at, to + at);
    std::memcpy(to + at, from + at, static_cast<std::size_t>(bytes - at));
}

void end_streams() noexcept {
    _mm_sfence();
}

#else

void stream_copy(const std::byte* from, std::byte* to, std::int64_t bytes) noexcept {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void end_streams() noexcept {}

#endif

}  // namespace ringscope::reduce
