// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "clock/exchange.hpp"
#include "cuda/cuda.hpp"

namespace ringscope::engine::cuda {

/// Questions of the host's monotonic clock to %globaltimer of the current device, over a shared word. Throws
/// Error where it does not answer.
[[nodiscard]] std::vector<clock::Exchange> ask_device(const ringscope::cuda::Stream& stream);

/// Memory of every rank in which GPUs ask each other, as this rank's GPU sees it.
struct ClockMail {
    static constexpr std::int64_t most_ranks = 64;
    std::byte* of[most_ranks] = {};

    [[nodiscard]] static std::int64_t bytes() { return most_ranks * 256; }
};

/// Questions of rank 0's GPU to the GPUs of all others, [rank]. Rank 0 asks while every other rank answers;
/// `round` counts these from 1. [collective] Empty for a rank that did not answer in time.
[[nodiscard]] std::vector<std::vector<clock::Exchange>> ask_peers(
    const ClockMail& mail, int ranks, std::int64_t round, const ringscope::cuda::Stream& stream
);
void answer_peer(const ClockMail& mail, int rank, std::int64_t round, const ringscope::cuda::Stream& stream);

/// Lets the stream store %globaltimer, as it then is, to device memory.
void stamp_clock(std::int64_t* to, const ringscope::cuda::Stream& stream);

}  // namespace ringscope::engine::cuda
