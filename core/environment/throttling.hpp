// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "environment/environment.hpp"

namespace ringscope::environment {

/// How often and how long this host's processors were held back so far; -1 where the machine does not tell.
struct Throttling {
    std::int64_t throttled_ns = -1;    ///< processes of this control group, or of one above it, by a quota
    std::int64_t thermal_events = -1;  ///< over all processors and packages, because they were hot
};

/// Reads it again and again. The files that there are, are found once.
class ThrottlingReader {
 public:
    explicit ThrottlingReader(const Sources& sources);

    [[nodiscard]] Throttling read() const;

 private:
    std::vector<std::filesystem::path> quotas_, counters_;
};

}  // namespace ringscope::environment
