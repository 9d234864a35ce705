// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "doctor/system.hpp"

/// What a build with CUDA lets GPUs do while they are looked at. One without does nothing.
namespace ringscope::doctor {

/// Copies between page-locked memory and every GPU that this process sees, in both directions at once, until
/// it ends. GPUs that cannot be used are left out.
class Load {
 public:
    Load();  ///< returns when the copies flow
    ~Load();
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    /// PCI addresses of the GPUs that copy.
    [[nodiscard]] std::set<std::string> gpus() const;

 private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Lets every ordered pair of the GPUs that this process sees write to each other by kernels that are
/// resident together, one thread per GPU, and their owners verify it (engine/cuda/preflight.hpp). Nothing
/// where there are not two. Takes a few seconds at most.
[[nodiscard]] std::optional<PairTest> test_pairs();

}  // namespace ringscope::doctor
