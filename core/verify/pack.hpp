// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reduce/half.hpp"
#include "verify/random.hpp"

// A message in pieces of 16 bytes, as kernels read, compare and hash it.
namespace ringscope::verify {

/// 16 bytes of a message as two little-endian words. The last pack of a message is extended by zeros.
struct alignas(16) Pack {
    std::uint64_t low, high;
    friend bool operator==(const Pack&, const Pack&) = default;
};

inline constexpr std::int32_t pack_bytes = 16;

/// The first `bytes` bytes of a word, the others zero; all of them where there are eight or more.
[[nodiscard]] RINGSCOPE_HD constexpr std::uint64_t first_bytes(std::uint64_t word, std::int32_t bytes) {
    if (bytes >= 8) return word;
    return bytes <= 0 ? 0 : word & ~(~std::uint64_t{0} << (8 * bytes));
}

[[nodiscard]] RINGSCOPE_HD constexpr Pack first_bytes(const Pack& pack, std::int32_t bytes) {
    return {first_bytes(pack.low, bytes), first_bytes(pack.high, bytes - 8)};
}

/// Elements of `size` bytes in which two words differ, by the bits that differ.
[[nodiscard]] RINGSCOPE_HD constexpr std::int32_t differing_elements(
    std::uint64_t difference, std::int32_t size
) {
    const std::int32_t bits = 8 * size;
    const std::uint64_t element = ~std::uint64_t{0} >> (64 - bits);
    std::int32_t count = 0;
    for (std::int32_t shift = 0; shift < 64; shift += bits) {
        count += ((difference >> shift) & element) != 0 ? 1 : 0;
    }
    return count;
}

[[nodiscard]] RINGSCOPE_HD constexpr std::int32_t differing_elements(
    const Pack& a, const Pack& b, std::int32_t size
) {
    const std::uint64_t low = a.low ^ b.low, high = a.high ^ b.high;
    if ((low | high) == 0) return 0;
    return differing_elements(low, size) + differing_elements(high, size);
}

/// A word's share of the hash of a message. The hash is the sum of all shares, modulo 2^64: it depends on the
/// place of each word, and not on the order in which threads come to add theirs.
[[nodiscard]] RINGSCOPE_HD constexpr std::uint64_t hash_share(std::uint64_t word, std::uint64_t index) {
    constexpr std::uint64_t odd = 0xd6e8feb86659fd93u;
    return mix(word + index * odd);
}

/// The share of the pack that begins at byte `at` of the message.
[[nodiscard]] RINGSCOPE_HD constexpr std::uint64_t hash_share(const Pack& pack, std::int64_t at) {
    const std::uint64_t index = static_cast<std::uint64_t>(at) / 8;
    return hash_share(pack.low, index) + hash_share(pack.high, index + 1);
}

}  // namespace ringscope::verify
