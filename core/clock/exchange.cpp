// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/exchange.hpp"

#include <algorithm>
#include <limits>

namespace ringscope::clock {

Offset offset_of(std::span<const Exchange> exchanges) {
    Offset offset{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    for (const Exchange& e : exchanges) {
        offset.low_ns = std::max(offset.low_ns, e.answered_ns - e.heard_ns);
        offset.high_ns = std::min(offset.high_ns, e.answered_ns - e.asked_ns);
    }
    if (offset.low_ns > offset.high_ns) std::swap(offset.low_ns, offset.high_ns);
    return offset;
}

}  // namespace ringscope::clock
