// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "clock/exchange.hpp"
#include "clock/line.hpp"

namespace ringscope::clock {

/// A rank's clock by that of another rank, its peer, which asked.
struct Comparison {
    int rank = 0, peer = 0;
    Line line{};
    std::vector<Exchange> exchanges{};
};

}  // namespace ringscope::clock
