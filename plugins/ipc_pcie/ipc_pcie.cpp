// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "../direct/direct.hpp"
#include "ipc_pcie_law.hpp"
#include "ringscope/plugin.hpp"

namespace {

using namespace ringscope;

/// Each slice by itself: publish the own contribution, wait for everybody's, sum, and only then go on.
void naive(Player& p) {
    p.phase(Phase::reduce);
    for (std::int64_t k = 0; k < p.slices(); ++k) {
        p.slice(k);
        p.send(direct::others_rotated(p), chunk(0));
        direct::reduce_all(p, {}, chunk(0));
    }
}

/// Between two ranks one hop moves no more bytes than two do; from three on the owners sum.
void direct_or_owned(Player& p) {
    return p.ranks() == 2 ? direct::one_shot(p) : direct::two_shot(p);
}

int one_chunk(int) {
    return 1;
}

int one_chunk_or_one_per_rank(int ranks) {
    return ranks == 2 ? 1 : ranks;
}

/// By measurement (docs/performance-notes.md): flags in the data while the trip to the other side is what
/// takes the time.
std::int32_t by_size(const ringscope_place*, std::int64_t bytes, ringscope_tuning* tuning) {
    const std::int64_t limit = std::string_view{tuning->engine} == "host-shm" ? 128 : 256 << 10;
    tuning->protocol = bytes <= limit ? RINGSCOPE_LL : RINGSCOPE_SIMPLE;
    return RINGSCOPE_OK;
}

}  // namespace

RINGSCOPE_PLUGIN(
    "ipc-pcie", "1.0",
    ringscope::algorithm<direct_or_owned, one_chunk_or_one_per_rank>(
        "ipc-pcie", "direct exchange for GPUs of one host, over peer access or through its memory",
        RINGSCOPE_SIMPLE, ipc_pcie_law,
        {.tune = by_size, .protocols = 1u << RINGSCOPE_LL | 1u << RINGSCOPE_SIMPLE}
    ),
    ringscope::algorithm<naive, one_chunk>(
        "ipc-pcie-naive", "every slice published, awaited and summed, with the host in the loop",
        RINGSCOPE_SIMPLE, ipc_pcie_naive_law, {.gpu_engine = "cuda-host-driven"}
    )
);
