// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace ringscope::conform {

/// How much is checked. Either has every kind of case; `reduced` takes seconds.
enum class Extent { reduced, full };

/// What became of one group of checks: a line of the gate's report.
struct Group {
    std::string name;
    std::int64_t passed = 0, failed = 0;
    std::int64_t skipped = 0;      ///< cases that a library or this machine cannot run
    std::string remark{};          ///< what was found out besides, or ""
    std::string first_failure{};   ///< which check it was and why it failed, or ""
    ExitCode code = ExitCode::ok;  ///< the worst of the failures

    void fail(ExitCode why, const std::string& what) {
        ++failed;
        code = worst(code, why);
        if (first_failure.empty()) first_failure = what;
    }
};

}  // namespace ringscope::conform
