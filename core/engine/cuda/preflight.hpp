// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "engine/cuda/verdict.hpp"

namespace ringscope::engine::cuda {

/// Bytes of each rank's memory that the preflight uses.
[[nodiscard]] std::int64_t preflight_bytes(int ranks);

/// Lets every ordered pair of ranks write to each other, announce it, and verify at the owner what arrived;
/// and read back across the link. By kernels that are resident at the same time, as those of an algorithm
/// are: what the driver says is not enough. `memory[r]` is rank r's, as this rank's GPU sees it, zeroed by
/// its owner. [collective] Returns the pairs that failed and how, the same on all ranks; "" when all is well.
/// Throws AgreedError when the kernel cannot be run. A pair that is silent costs three times
/// `wait_ns`. `lie`: for a test of this test.
[[nodiscard]] std::string preflight(
    bootstrap::Bootstrap& bootstrap, const std::vector<std::byte*>& memory, std::int64_t wait_ns,
    const PeerLie& lie
);

}  // namespace ringscope::engine::cuda
