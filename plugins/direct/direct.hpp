// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "ringscope/overlap.hpp"
#include "ringscope/player.hpp"

/// Schedules in which every rank talks to every other one.
namespace ringscope::direct {

/// The others, counted from the own rank on, so that not all ranks send to the same one first.
inline Peers others_rotated(const Player& p) {
    std::vector<std::int32_t> others;
    for (int i = 1; i < p.ranks(); ++i) others.push_back(p.wrap(p.rank() + i));
    return others;
}

/// The others in the order of ranks: with the own contribution in its place, all ranks sum in the same order.
inline Peers others_in_order(const Player& p) {
    std::vector<std::int32_t> others;
    for (int rank = 0; rank < p.ranks(); ++rank) {
        if (rank != p.rank()) others.push_back(rank);
    }
    return others;
}

/// Every contribution to a chunk, summed in the order of ranks -> output and to.
inline void reduce_all(Player& p, const Peers& to, Chunks c) {
    p.op(
        {.recv = others_in_order(p),
         .send = to,
         .local = Local::input,
         .local_at = p.rank(),
         .store = true,
         .finish = true,
         .chunks = c}
    );
}

/// Every rank sends all it has to all others, and each sums for itself: one hop, (N-1)M bytes per rank.
inline void one_shot(Player& p) {
    p.phase(Phase::reduce);
    overlap_slices(
        p, [&] { p.send(others_rotated(p), chunk(0)); }, [&] { reduce_all(p, {}, chunk(0)); }, [] {}
    );
}

/// Rank c owns chunk c: it gets it from all, sums, and sends the result to all: two hops, and
/// M + (N-2) L[r] bytes from rank r.
inline void two_shot(Player& p) {
    const Peers others = others_rotated(p);
    const auto scatter = [&] {
        p.phase(Phase::reduce_scatter);
        for (const std::int32_t owner : others) p.send(owner, chunk(owner));
    };
    const auto gather = [&] {
        for (const std::int32_t owner : others) p.recv(owner, chunk(owner));
    };
    const auto reduce = [&] {
        p.phase(Phase::all_gather);
        reduce_all(p, others, chunk(p.rank()));
    };
    overlap_slices(p, scatter, reduce, gather);
}

}  // namespace ringscope::direct
