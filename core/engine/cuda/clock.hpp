// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/cuda.hpp"
#include "engine/cuda/engine.hpp"

namespace ringscope::engine::cuda {

/// How %globaltimer of the current device stands to the host's monotonic clock: the device stamps questions
/// that the host puts into a shared word, and the shortest of many round trips bounds the error.
[[nodiscard]] DeviceClock measure_clock(const ringscope::cuda::Stream& stream);

/// Lets the stream store %globaltimer, as it then is, to device memory.
void stamp_clock(std::int64_t* to, const ringscope::cuda::Stream& stream);

}  // namespace ringscope::engine::cuda
