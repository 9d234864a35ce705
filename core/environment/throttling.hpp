// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "health/sources.hpp"

namespace ringscope::environment {

/// How often and how long this host's processors were held back so far; -1 where the machine does not tell.
struct Throttling {
    std::int64_t throttled_ns = -1;    ///< processes of this control group, by its quota
    std::int64_t thermal_events = -1;  ///< over all processors and packages, because they were hot
};

/// Reads it again and again. The counters that there are, are found once, and opened as plain files: a pipe
/// in a test's tree holds the reader up.
class ThrottlingReader {
 public:
    explicit ThrottlingReader(health::Sources sources);

    [[nodiscard]] Throttling read() const;

 private:
    health::Sources sources_;
    std::vector<std::string> counters_;
};

}  // namespace ringscope::environment
