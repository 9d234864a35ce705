// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bootstrap/bootstrap.hpp"
#include "engine/host/engine.hpp"
#include "machine/effort.hpp"
#include "machine/figures.hpp"

namespace ringscope::machine {

/// Measures what engine host-shm rests on, one ordered pair after the other, while the other ranks sleep:
///  - latency: half of a round trip of a flag between two ranks that spin, the shortest mean of 16; not where
///    ranks share cores;
///  - bandwidth: the sender copies a buffer into the receiver's window, which nobody reads meanwhile;
///  - reduction rate: the receiver adds two buffers of float32 into a third, by core/reduce.
/// Each is the best of several attempts on warm memory. [collective] Throws AgreedError (out_of_memory) when
/// there is no shared memory for windows of the largest size, and StuckError when a rank does not answer.
[[nodiscard]] Figures measure_host(
    bootstrap::Bootstrap& bootstrap, engine::host::HostEngine& host, const Effort& effort
);

}  // namespace ringscope::machine
