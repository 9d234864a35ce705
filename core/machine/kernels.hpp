// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/cuda.hpp"

/// The kernels that measure what a link between two GPUs can do.
namespace ringscope::machine {

/// Copies `bytes`, a multiple of 16, so many times, with as many threads as keep a link busy. Either side may
/// be another GPU's memory, or the host's.
void launch_copy(
    std::byte* to, const std::byte* from, std::int64_t bytes, std::int64_t passes,
    const ringscope::cuda::Stream& stream
);

inline constexpr std::uint64_t bounce_batches = 16, bounce_trips = 64;  ///< round trips of a batch

/// One end of a flag's way to and fro. The numbers first_number + 1 and so on are its values.
struct Bounce {
    std::uint64_t* there = nullptr;       ///< the other rank's flag
    const std::uint64_t* here = nullptr;  ///< this rank's
    bool leads = false;
    std::uint64_t first_number = 0;
    std::int64_t patience_ns = 1'000'000'000;  ///< for the whole
    std::int64_t* shortest_ns = nullptr;  ///< in memory of the host: of a batch; left alone when given up
};

/// The numbers that one bounce takes.
inline constexpr std::uint64_t bounce_numbers = (bounce_batches + 1) * bounce_trips;

void launch_bounce(const Bounce& bounce, const ringscope::cuda::Stream& stream);

}  // namespace ringscope::machine
