// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/range.hpp"

#include <nvtx3/nvToolsExt.h>

namespace ringscope::engine::cuda {

Range::Range(const std::string& name) {
    nvtxRangePushA(name.c_str());
}

Range::~Range() {
    nvtxRangePop();
}

}  // namespace ringscope::engine::cuda
