// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bootstrap/bootstrap.hpp"
#include "cuda/cuda.hpp"
#include "transport/arena.hpp"

namespace ringscope::engine::cuda {

/// Lets every ordered pair of ranks write to each other, announce it, and verify at the owner what arrived;
/// and read back across the link. By kernels that are resident at the same time, as those of an algorithm
/// are: what the driver says of peer access is not enough. [collective]
/// Throws AgreedError (unusable_engine) naming the pairs that failed and how.
/// `lying`: writes something else, for a test of this test.
void preflight(
    bootstrap::Bootstrap& bootstrap, transport::Arena& arena, const ringscope::cuda::Stream& stream,
    std::int64_t wait_ns, bool lying
);

}  // namespace ringscope::engine::cuda
