// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "engine/cuda/engine.hpp"
#include "engine/host/engine.hpp"
#include "trace/rows.hpp"

/// What the machine itself can do, measured in the launch whose results are held against it.
namespace ringscope::machine {

/// The engines of a run. `names`: those whose memory and copies matter; a baseline's is none of them.
struct Ground {
    engine::host::HostEngine& host;
    engine::cuda::CudaEngine* cuda = nullptr;  ///< null where no GPU is used
    std::vector<std::string> names;
};

/// Rank 0's; the other ranks' are empty.
struct Survey {
    std::vector<trace::MachineRow> rows;
    std::vector<trace::Fact> facts;  ///< what was left out and why, "machine.host-shm.left_out"
};

/// Measures every ordered pair of ranks on each of these engines, in 0.3 s on the host and 1 s on GPUs, and
/// leaves out what takes longer. An engine that cannot be used here is left to its cases. [collective] Throws
/// AgreedError, and StuckError when a rank does not answer.
[[nodiscard]] Survey survey(bootstrap::Bootstrap& bootstrap, const Ground& ground);

}  // namespace ringscope::machine
