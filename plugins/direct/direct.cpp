// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "direct.hpp"

#include "direct_law.hpp"
#include "ringscope/plugin.hpp"

namespace {

using namespace ringscope;

int one_chunk(int) {
    return 1;
}

int one_chunk_per_rank(int ranks) {
    return ranks;
}

constexpr std::uint32_t any_protocol = 1u << RINGSCOPE_LL | 1u << RINGSCOPE_LL128 | 1u << RINGSCOPE_SIMPLE;

/// Flags in the data while a rank's part is short, then full bandwidth.
std::int32_t by_size(const ringscope_place*, std::int64_t bytes, ringscope_tuning* tuning) {
    tuning->protocol = bytes <= (256 << 10) ? RINGSCOPE_LL : RINGSCOPE_SIMPLE;
    return RINGSCOPE_OK;
}

constexpr Extras extras{.tune = by_size, .protocols = any_protocol};

}  // namespace

RINGSCOPE_PLUGIN(
    "direct", "1.0",
    ringscope::algorithm<direct::one_shot, one_chunk>(
        "one-shot", "everybody sends all to everybody: one hop, (N-1)M bytes", RINGSCOPE_LL, one_shot_law,
        extras
    ),
    ringscope::algorithm<direct::two_shot, one_chunk_per_rank>(
        "two-shot", "direct reduce-scatter, direct all-gather: two hops", RINGSCOPE_SIMPLE, two_shot_law,
        extras
    )
);
