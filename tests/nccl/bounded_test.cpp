// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/bounded.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "base/time.hpp"

using ringscope::nccl::returns_within;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

TEST(ReturnsWithin, a_call_that_returns) {
    const auto called = std::make_shared<bool>(false);
    EXPECT_TRUE(returns_within(60 * second_ns, [called] { *called = true; }));
    EXPECT_TRUE(*called);
}

TEST(ReturnsWithin, a_call_that_takes_too_long_is_left_behind) {
    const std::int64_t begin = ringscope::now_ns();
    EXPECT_FALSE(returns_within(20'000'000, [] { std::this_thread::sleep_for(std::chrono::minutes{10}); }));
    EXPECT_LT(ringscope::now_ns() - begin, 60 * second_ns);
}

TEST(ReturnsWithin, what_a_call_throws) {
    EXPECT_THROW(
        static_cast<void>(returns_within(60 * second_ns, [] { throw std::runtime_error{"no"}; })),
        std::runtime_error
    );
}

}  // namespace
