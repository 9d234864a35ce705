// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "ringscope/plugin.hpp"

namespace ringscope::schedules {

/// The other ranks, counted from the own one on, so that not all ranks send to the same one first.
inline std::vector<std::int32_t> others_rotated(const Player& p) {
    std::vector<std::int32_t> others;
    for (int i = 1; i < p.ranks(); ++i) others.push_back(p.wrap(p.rank() + i));
    return others;
}

inline std::vector<std::int32_t> others_in_order(const Player& p) {
    std::vector<std::int32_t> others;
    for (int rank = 0; rank < p.ranks(); ++rank) {
        if (rank != p.rank()) others.push_back(rank);
    }
    return others;
}

/// Direct reduce-scatter, direct all-gather: rank c owns chunk c, sums it in the order of ranks and sends it
/// to all.
inline void two_shot_all_reduce(Player& p) {
    for (std::int64_t k = 0; k < p.slices(); ++k) {
        p.slice(k);
        p.phase(Phase::reduce_scatter);
        for (const std::int32_t owner : others_rotated(p)) p.send(owner, chunk(owner));
        p.phase(Phase::all_gather);
        p.op(
            {.recv = others_in_order(p),
             .send = others_rotated(p),
             .local = Local::input,
             .local_at = p.rank(),
             .store = true,
             .finish = true,
             .chunks = chunk(p.rank())}
        );
        for (const std::int32_t owner : others_rotated(p)) p.recv(owner, chunk(owner));
    }
}

inline int chunk_per_rank(int ranks) {
    return ranks;
}

/// Rank r sends chunk p to each p, and its own chunk to everybody: L[p] + L[r] per link.
inline std::int64_t two_shot_law(
    const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst
) {
    const auto length = [&](std::int64_t c) {
        const std::int64_t n = place->ranks, units = bytes / 16;
        return 16 * (units / n + (c < units % n ? 1 : 0)) + (c == n - 1 ? bytes % 16 : 0);
    };
    return length(src) + length(dst);
}

inline constexpr ringscope_algorithm two_shot_ll =
    algorithm<two_shot_all_reduce, chunk_per_rank>("two-shot-ll", "two-shot", RINGSCOPE_LL, two_shot_law);
inline constexpr ringscope_algorithm two_shot_simple =
    algorithm<two_shot_all_reduce, chunk_per_rank>("two-shot", "two-shot", RINGSCOPE_SIMPLE, two_shot_law);

}  // namespace ringscope::schedules
