// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/error.hpp"
#include "baseline/nccl.hpp"
#include "clock/clocks.hpp"
#include "config/experiment.hpp"
#include "engine/cuda/engine.hpp"
#include "engine/host/engine.hpp"
#include "schedule/plan.hpp"

namespace ringscope::bench {

/// Why something cannot be used here.
struct Unusable {
    ExitCode code = ExitCode::unusable_engine;
    std::string reason;
};

/// What plays cases in this run: the host always, GPUs and NCCL where they can be used.
struct Engines {
    engine::host::HostEngine& host;
    engine::cuda::CudaEngine* cuda = nullptr;
    Unusable without_cuda{ExitCode::unusable_engine, "no case asked for a GPU"};
    const char* automatic = engine::host::HostEngine::name;  ///< what engine `auto` means here
    baseline::NcclBaseline* nccl = nullptr;
    clock::Clocks* clocks = nullptr;  ///< of all ranks; null: all have rank 0's
    /// Tests change with it what a rank plays, unknown to the others: a lost message.
    std::function<void(const Case&, schedule::Plan&)> tamper{};
    Unusable without_nccl{ExitCode::unusable_engine, "no case asked for NCCL"};

    [[nodiscard]] clock::Line clock_of(int rank) const {
        return clocks == nullptr ? clock::Line{} : clocks->of(rank);
    }
};

}  // namespace ringscope::bench
