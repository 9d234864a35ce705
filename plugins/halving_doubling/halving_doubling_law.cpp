// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "halving_doubling_law.hpp"

#include <bit>

#include "ringscope/law.hpp"

namespace {

std::int64_t bytes_of_range(std::int64_t bytes, std::int64_t chunks, std::int64_t first, std::int64_t count) {
    std::int64_t sum = 0;
    for (std::int64_t c = first; c < first + count; ++c) sum += ringscope::law::chunk_bytes(bytes, chunks, c);
    return sum;
}

}  // namespace

/// The message is cut into P chunks, P the largest power of two up to N. Two players whose numbers differ in
/// one bit, of value d, meet twice: first the sender gives away the d chunks that the receiver keeps (those
/// that agree with the receiver's number down to this bit), then it sends the d chunks that it holds itself.
/// Of the first 2(N-P) ranks the odd ones play, with the numbers 0 .. N-P-1; an even one gives them all of
/// its message and gets all of it back. (Thakur, Rabenseifner and Gropp, 2005.)
std::int64_t halving_doubling_law(
    const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst
) {
    const auto n = static_cast<std::uint32_t>(place->ranks);
    const auto players = std::bit_floor(n);
    const auto pairs = static_cast<std::int32_t>(n - players);
    const auto is_folded = [&](std::int32_t rank) { return rank < 2 * pairs && rank % 2 == 0; };
    if (is_folded(src)) return dst == src + 1 ? bytes : 0;
    if (is_folded(dst)) return src == dst + 1 ? bytes : 0;
    const auto number = [&](std::int32_t rank) { return rank < 2 * pairs ? rank / 2 : rank - pairs; };
    const auto from = static_cast<std::uint32_t>(number(src)), to = static_cast<std::uint32_t>(number(dst));
    const std::uint32_t d = from ^ to;
    if (!std::has_single_bit(d)) return 0;
    return bytes_of_range(bytes, players, to & ~(d - 1), d) +
           bytes_of_range(bytes, players, from & ~(d - 1), d);
}
