// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace ringscope::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t ms = 1'000'000;

/// Collects the first stage that expired.
struct Alarm {
    std::promise<std::string> stage;
    std::future<std::string> heard = stage.get_future();
    bool rang = false;

    Watchdog::Expired expired() {
        return [this](const std::string& text) {
            if (!rang) stage.set_value(text);
            rang = true;
        };
    }
};

TEST(Watchdog, StageNotLeft_ExpiresWithItsName) {
    Alarm alarm;
    Watchdog watchdog{alarm.expired()};
    watchdog.enter("case 3", 20 * ms);
    ASSERT_EQ(alarm.heard.wait_for(seconds{20}), std::future_status::ready);
    EXPECT_EQ(alarm.heard.get(), "case 3");
}

TEST(Watchdog, StageLeftInTime_DoesNotExpire) {
    Alarm alarm;
    Watchdog watchdog{alarm.expired()};
    watchdog.enter("case 3", 300 * ms);
    watchdog.leave();
    EXPECT_EQ(alarm.heard.wait_for(milliseconds{600}), std::future_status::timeout);
}

TEST(Watchdog, NextStage_EndsTheOneBefore) {
    Alarm alarm;
    Watchdog watchdog{alarm.expired()};
    watchdog.enter("case 1", 200 * ms);
    watchdog.enter("case 2", 60'000 * ms);
    EXPECT_EQ(alarm.heard.wait_for(milliseconds{500}), std::future_status::timeout);
    watchdog.enter("case 3", 20 * ms);
    ASSERT_EQ(alarm.heard.wait_for(seconds{20}), std::future_status::ready);
    EXPECT_EQ(alarm.heard.get(), "case 3");
}

TEST(Watchdog, DestroyedWhileWatching_EndsAtOnce) {
    Alarm alarm;
    const auto begin = std::chrono::steady_clock::now();
    {
        Watchdog watchdog{alarm.expired()};
        watchdog.enter("case 1", 3'600'000 * ms);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds{20});
    EXPECT_FALSE(alarm.rang);
}

}  // namespace
}  // namespace ringscope::bench
