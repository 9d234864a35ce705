// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/timer.hpp"

#include <limits>

#include "base/time.hpp"

namespace ringscope::bench {
namespace {

/// The best of some rounds, so that an interruption does not count.
Timer measure_timer() {
    constexpr int rounds = 20, reads = 100;
    Timer timer{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
    for (int round = 0; round < rounds; ++round) {
        const std::int64_t begin = now_ns();
        std::int64_t last = begin;
        for (int i = 0; i < reads; ++i) {
            const std::int64_t now = now_ns();
            if (now > last) timer.step_ns = std::min(timer.step_ns, now - last);
            last = now;
        }
        timer.cost_ns = std::min(timer.cost_ns, (last - begin) / reads);
    }
    return timer;
}

}  // namespace

const Timer& host_timer() {
    static const Timer timer = measure_timer();
    return timer;
}

}  // namespace ringscope::bench
