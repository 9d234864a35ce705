// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ticks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace ringscope {
namespace {

TEST(Ticks, SpanOfTime_IsTheSystemClocks) {
    const TickClock& clock = TickClock::of_this_machine();
    const TickAnchor begin = TickAnchor::now(clock);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    const TickAnchor end = TickAnchor::now(clock);
    const std::int64_t by_ticks = clock.ns_of(end.ticks - begin.ticks), by_system = end.ns - begin.ns;
    EXPECT_GE(by_system, 50'000'000);
    EXPECT_LE(std::abs(by_ticks - by_system), by_system / 10'000) << "100 ppm, and both ends";
}

TEST(Ticks, OneProcessor_NeverGoesBack) {
    const TickClock& clock = TickClock::of_this_machine();
    std::int64_t last = clock.read();
    for (int i = 0; i < 100'000; ++i) {
        const std::int64_t now = clock.read();
        ASSERT_GE(now, last);
        last = now;
    }
}

}  // namespace
}  // namespace ringscope
