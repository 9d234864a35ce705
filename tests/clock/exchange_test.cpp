// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/exchange.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ringscope::clock {
namespace {

TEST(Exchange, OneExchange_BoundsTheOffsetByItsRoundTrip) {
    const std::vector<Exchange> one{{.asked_ns = 100, .answered_ns = 1'130, .heard_ns = 150}};
    const Offset offset = offset_of(one);
    EXPECT_EQ(offset.low_ns, 980);
    EXPECT_EQ(offset.high_ns, 1030);
    EXPECT_EQ(offset.middle_ns(), 1005);
    EXPECT_EQ(offset.error_ns(), 25);
    EXPECT_TRUE(offset.contains(1000));
    EXPECT_FALSE(offset.contains(0));
}

/// Both ways may take different times: the truth is within the bounds all the same.
TEST(Exchange, TruthLiesWithinTheBounds_HoweverLongTheWays) {
    std::mt19937_64 random{1};
    std::uniform_int_distribution<std::int64_t> there{700, 5'000}, back{300, 9'000},
        truth{-1'000'000, 1'000'000};
    for (int run = 0; run < 1000; ++run) {
        const std::int64_t offset_ns = truth(random);
        std::vector<Exchange> exchanges;
        std::int64_t now = 1'000'000;
        for (int i = 0; i < 50; ++i) {
            const std::int64_t answered = now + there(random), heard = answered + back(random);
            exchanges.push_back({now, answered + offset_ns, heard});
            now = heard + 10;
        }
        const Offset offset = offset_of(exchanges);
        EXPECT_TRUE(offset.contains(offset_ns)) << offset_ns;
        EXPECT_LE(std::abs(offset.middle_ns() - offset_ns), offset.error_ns());
        EXPECT_LT(offset.error_ns(), 1'500) << "the shortest ways count, not the usual ones";
        EXPECT_GE(offset.error_ns(), 500) << "half of the shortest round trip, at least";
    }
}

TEST(Exchange, ClocksThatDriftApartMeanwhile_GiveBoundsThatAreNotEmpty) {
    const std::vector<Exchange> drifting{{0, 1'005, 10}, {1'000, 2'105, 1'010}};
    const Offset offset = offset_of(drifting);
    EXPECT_EQ(offset.low_ns, 1'005);
    EXPECT_EQ(offset.high_ns, 1'095);
}

}  // namespace
}  // namespace ringscope::clock
