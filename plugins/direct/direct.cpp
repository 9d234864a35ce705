// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "direct.hpp"

#include <string_view>

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

/// By measurement (docs/performance-notes.md): the largest messages for which flags in the data are fastest.
struct Limits {
    std::int64_t low_latency, low_latency_128;
};

Limits limits_on(std::string_view engine) {
    if (engine == "cuda-p2p") return {128 << 10, 4 << 20};
    if (engine == "cuda-staged") return {256 << 10, 0};
    return {128, 0};
}

std::int32_t by_size(const ringscope_place*, std::int64_t bytes, ringscope_tuning* tuning) {
    const Limits limits = limits_on(tuning->engine);
    tuning->protocol = bytes <= limits.low_latency       ? RINGSCOPE_LL
                       : bytes <= limits.low_latency_128 ? RINGSCOPE_LL128
                                                         : RINGSCOPE_SIMPLE;
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
