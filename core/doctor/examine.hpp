// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "doctor/system.hpp"

namespace ringscope::doctor {

struct Request {
    std::filesystem::path root = "/";
    std::optional<std::filesystem::path> record{};  ///< keep there what is read
    std::string nccl{};                             ///< version of the library that this machine would load
    bool pair_test = true;
};

/// A machine looked at twice: at rest, and while its GPUs copy where they can be made to.
struct Examination {
    System idle, later;
    Circumstances circumstances;
};

/// Looks at this machine, or at a recording of one, whose folder "loaded" holds what was seen under load.
/// Takes about a second, and the pair test a few more. Throws Error: usage for a root that is no folder,
/// output for a folder that takes no recording.
[[nodiscard]] Examination examine(const Request& request);

}  // namespace ringscope::doctor
