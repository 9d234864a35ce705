// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/gpu_work.hpp"

// A build without CUDA: nothing makes GPUs work.
namespace ringscope::doctor {

struct Load::State {};

Load::Load() = default;
Load::~Load() = default;

std::set<std::string> Load::gpus() const {
    return {};
}

std::optional<PairTest> test_pairs() {
    return std::nullopt;
}

}  // namespace ringscope::doctor
