// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "ringscope/plugin.hpp"

/// A chain: partial sums go up from rank 0 to the last rank, results come down again. Each link carries the
/// message once in each direction, and a slice may go up while an earlier one comes down.
namespace {

using namespace ringscope;

void chain(Player& p) {
    const int below = p.rank() - 1, above = p.rank() + 1;
    const bool first = below < 0, last = above == p.ranks();
    for (std::int64_t k = 0; k < p.slices(); ++k) {
        p.slice(k);
        p.phase(Phase::reduce);
        if (first) p.send(above, chunk(0));
        if (!first && !last) p.recv_reduce_send(below, above, chunk(0));
        if (last) p.recv_reduce_copy_send(below, below, chunk(0));
        p.phase(Phase::broadcast);
        if (!first && !last) p.recv_copy_send(above, below, chunk(0));
        if (first) p.recv(above, chunk(0));
    }
}

int one_chunk(int) {
    return 1;
}

/// The whole message, between neighbours, whatever the number of ranks.
std::int64_t chain_law(const ringscope_place*, std::int64_t bytes, std::int32_t src, std::int32_t dst) {
    return dst - src == 1 || src - dst == 1 ? bytes : 0;
}

}  // namespace

RINGSCOPE_PLUGIN(
    "chain", "1.0",
    ringscope::algorithm<chain, one_chunk>(
        "chain", "up a chain of ranks and down again", RINGSCOPE_SIMPLE, chain_law
    )
);
