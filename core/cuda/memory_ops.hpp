// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/cuda.hpp"

/// Streams that wait for a counter in memory and write one, without a kernel and without the host. The driver
/// has them and the runtime does not, so they are asked for by name.
namespace ringscope::cuda {

/// Whether streams of this device can do so with counters of 64 bits.
[[nodiscard]] bool has_memory_ops(int device);

/// The stream goes on once the counter is `value` or later; compared as wrapping numbers.
void wait_for_counter(const Stream& stream, std::uint64_t* counter, std::uint64_t value);

/// Writes the counter when all that the stream was asked for before is done and visible to the whole system.
void write_counter(const Stream& stream, std::uint64_t* counter, std::uint64_t value);

}  // namespace ringscope::cuda
