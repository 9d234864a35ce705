// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringscope::engine::cuda {

/// A named range on the time line of NVIDIA's profilers, as long as it lives. Costs nothing where none is
/// attached; nothing at all in a build without CUDA.
class Range {
 public:
    explicit Range(const std::string& name);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

}  // namespace ringscope::engine::cuda
