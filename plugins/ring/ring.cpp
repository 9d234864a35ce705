// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "ringscope/plugin.hpp"

#include "ring_law.hpp"

namespace {

using namespace ringscope;

/// Every rank talks to its two neighbours only. A message is cut into one chunk per rank. In the
/// reduce-scatter a chunk travels once round the ring and gathers each rank's contribution: chunk c starts at
/// rank c+1 and is complete at rank c. In the all-gather the complete chunks travel round once more. That is
/// 2(N-1) steps, and rank r sends 2M - L[r] - L[r+1] bytes, with L[c] the bytes of chunk c.
void ring_all_reduce(Player& p) {
    const int n = p.ranks(), r = p.rank();
    const int next = p.wrap(r + 1), prev = p.wrap(r - 1);
    for (std::int64_t k = 0; k < p.slices(); ++k) {
        p.slice(k);
        p.phase(Phase::reduce_scatter);
        p.send(next, chunk(prev));
        for (int s = 2; s < n; ++s) p.recv_reduce_send(prev, next, chunk(p.wrap(r - s)));
        p.phase(Phase::all_gather);
        p.recv_reduce_copy_send(prev, next, chunk(r));
        for (int s = 1; s < n - 1; ++s) p.recv_copy_send(prev, next, chunk(p.wrap(r - s)));
        p.recv(prev, chunk(next));
    }
}

int one_chunk_per_rank(int ranks) {
    return ranks;
}

}  // namespace

RINGSCOPE_PLUGIN(
    "ring", "1.0",
    ringscope::algorithm<ring_all_reduce, one_chunk_per_rank>(
        "ring-ll", "ring, flags in the data: lowest latency, half of the wire", RINGSCOPE_LL, ring_law
    ),
    ringscope::algorithm<ring_all_reduce, one_chunk_per_rank>(
        "ring-ll128", "ring, a flag in each line of 128 bytes: low latency, 94 % of the wire",
        RINGSCOPE_LL128, ring_law
    ),
    ringscope::algorithm<ring_all_reduce, one_chunk_per_rank>(
        "ring-simple", "ring, whole slices behind counters: full bandwidth", RINGSCOPE_SIMPLE, ring_law
    )
);
