// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "ring_law.hpp"

#include "ringscope/law.hpp"

using ringscope::law::chunk_bytes;

/// All traffic goes to the next rank. In the reduce-scatter a rank sends every chunk but its own, in the
/// all-gather every chunk but its successor's: 2M - L[r] - L[r+1], whose mean over the ranks is 2(N-1)M/N
/// (Patarasuk and Yuan, 2009).
std::int64_t ring_law(const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst) {
    const std::int32_t next = (src + 1) % place->ranks;
    if (dst != next) return 0;
    return 2 * bytes - chunk_bytes(bytes, place->ranks, src) - chunk_bytes(bytes, place->ranks, next);
}
