// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace ringscope::clock {

/// A clock that is ahead of the true time by `offset_ns` when that is 0, and gains `drift` per time.
struct TrueClock {
    std::int64_t offset_ns = 0;
    double drift = 0;

    [[nodiscard]] std::int64_t at(std::int64_t true_ns) const {
        return true_ns + offset_ns +
               std::llround(static_cast<long double>(drift) * static_cast<long double>(true_ns));
    }
    [[nodiscard]] std::int64_t when(std::int64_t shown_ns) const {
        return std::llround(
            static_cast<long double>(shown_ns - offset_ns) / (1 + static_cast<long double>(drift))
        );
    }
};

}  // namespace ringscope::clock
