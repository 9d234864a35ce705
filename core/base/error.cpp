// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <algorithm>

namespace ringscope {

ExitCode worst(ExitCode a, ExitCode b) noexcept {
    return *std::ranges::find_if(exit_codes, [&](ExitCode code) { return code == a || code == b; });
}

}  // namespace ringscope
