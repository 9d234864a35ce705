// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <algorithm>
#include <array>

namespace ringscope {

ExitCode worst(ExitCode a, ExitCode b) noexcept {
    constexpr std::array order{ExitCode::internal, ExitCode::wrong_result,    ExitCode::timeout,
                               ExitCode::output,   ExitCode::unusable_engine, ExitCode::out_of_memory,
                               ExitCode::usage,    ExitCode::skipped,         ExitCode::ok};
    return *std::ranges::find_if(order, [&](ExitCode code) { return code == a || code == b; });
}

}  // namespace ringscope
