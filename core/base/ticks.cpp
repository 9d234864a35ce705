// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ticks.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace ringscope {
namespace {

/// The kernel has checked the counter of all processors if it keeps time by it.
bool counter_is_trusted() {
#if defined(__x86_64__)
    std::ifstream file{"/sys/devices/system/clocksource/clocksource0/current_clocksource"};
    std::string source;
    file >> source;
    return source == "tsc";
#else
    return false;
#endif
}

/// Both ends are read within some 20 ns, so 20 ms give the rate to about a millionth.
double measure_ns_per_tick(const TickClock& clock) {
    constexpr std::int64_t long_enough_ns = 20'000'000;
    const TickAnchor begin = TickAnchor::now(clock);
    while (now_ns() - begin.ns < long_enough_ns) {
    }
    const TickAnchor end = TickAnchor::now(clock);
    return static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.ticks - begin.ticks);
}

}  // namespace

const TickClock& TickClock::of_this_machine() {
    static const TickClock clock = [] {
        TickClock made;
        made.uses_counter_ = counter_is_trusted();
        if (made.uses_counter_) made.ns_per_tick_ = measure_ns_per_tick(made);
        return made;
    }();
    return clock;
}

TickAnchor TickAnchor::now(const TickClock& clock) {
    constexpr int attempts = 10;
    TickAnchor best;
    std::int64_t closest = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < attempts; ++i) {
        const std::int64_t before = clock.read(), ns = now_ns(), after = clock.read();
        if (after - before >= closest) continue;
        closest = after - before;
        best = {before + (after - before) / 2, ns, (after - before + 1) / 2};
    }
    return best;
}

}  // namespace ringscope
