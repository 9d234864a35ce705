// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "direct_law.hpp"

#include "ringscope/law.hpp"

using ringscope::law::chunk_bytes;

/// The whole message, on every link.
std::int64_t one_shot_law(const ringscope_place*, std::int64_t bytes, std::int32_t, std::int32_t) {
    return bytes;
}

/// The receiver's chunk, to be summed, and the sender's own, summed: L[dst] + L[src].
std::int64_t two_shot_law(
    const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst
) {
    return chunk_bytes(bytes, place->ranks, src) + chunk_bytes(bytes, place->ranks, dst);
}
