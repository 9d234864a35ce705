// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "machine/ceilings.hpp"

namespace ringscope::machine {
namespace {

using testing::HasSubstr;

constexpr double GB = 1e9;

/// Two ranks: 40 GB/s from 0 to 1 in caches and 10 GB/s beyond them; 20 GB/s back, which a copy engine
/// doubles.
Ceilings two_ranks() {
    return Ceilings{
        {{.engine = "host-shm",
          .src = 0,
          .dst = 1,
          .bytes = 8,
          .latency_ns = 100,
          .bandwidth = trace::nan,
          .copy_engine_bandwidth = trace::nan,
          .reduction_rate = trace::nan},
         {.engine = "host-shm",
          .src = 0,
          .dst = 1,
          .bytes = 4096,
          .bandwidth = 40 * GB,
          .copy_engine_bandwidth = trace::nan},
         {.engine = "host-shm",
          .src = 0,
          .dst = 1,
          .bytes = 1 << 24,
          .bandwidth = 10 * GB,
          .copy_engine_bandwidth = trace::nan},
         {.engine = "host-shm",
          .src = 1,
          .dst = 0,
          .bytes = 1 << 24,
          .bandwidth = 20 * GB,
          .copy_engine_bandwidth = 40 * GB}}};
}

/// 1e6 bytes each way in a time that makes them so many byte/s.
std::optional<Excess> excess_at(double rate, std::int64_t reused, const std::string& engine = "host-shm") {
    schedule::LinkBytes payload{2};
    payload.at(0, 1) = payload.at(1, 0) = 1'000'000;
    return two_ranks().excess(
        {.engine = engine, .payload = payload, .reused_bytes = reused, .time_ns = 1e6 / rate * 1e9}
    );
}

TEST(Ceilings, Rate_IsTheBestOfAllSizesFromThisOneOn) {
    const Ceilings ceilings = two_ranks();
    EXPECT_DOUBLE_EQ(ceilings.rate("host-shm", 0, 1, 1), 40 * GB);
    EXPECT_DOUBLE_EQ(ceilings.rate("host-shm", 0, 1, 4096), 40 * GB);
    EXPECT_DOUBLE_EQ(ceilings.rate("host-shm", 0, 1, 4097), 10 * GB);
    EXPECT_DOUBLE_EQ(ceilings.rate("host-shm", 0, 1, 1 << 30), 10 * GB) << "of the largest beyond all";
    EXPECT_DOUBLE_EQ(ceilings.rate("host-shm", 1, 0, 1), 40 * GB) << "by the copy engine";
}

TEST(Ceilings, Rate_OfWhatWasNotMeasuredIsNone) {
    const Ceilings ceilings = two_ranks();
    EXPECT_TRUE(std::isnan(ceilings.rate("cuda-p2p", 0, 1, 1)));
    EXPECT_TRUE(std::isnan(ceilings.rate("host-shm", 0, 2, 1)));
    EXPECT_TRUE(std::isnan(Ceilings{}.rate("host-shm", 0, 1, 1)));
}

TEST(Ceilings, Excess_BeginsFivePercentAboveTheCeiling) {
    EXPECT_FALSE(excess_at(10.4 * GB, 1 << 24));
    const auto excess = excess_at(10.6 * GB, 1 << 24);
    ASSERT_TRUE(excess);
    EXPECT_EQ(excess->src, 0);
    EXPECT_EQ(excess->dst, 1);
    EXPECT_DOUBLE_EQ(excess->rate, 10.6 * GB);
    EXPECT_DOUBLE_EQ(excess->ceiling, 10 * GB);
    EXPECT_THAT(in_words(*excess), HasSubstr("10.60 GB/s from rank 0 to rank 1"));
    EXPECT_THAT(in_words(*excess), HasSubstr("measured at 10.00 GB/s"));
}

/// A long message that goes through 4 KiB of memory again and again may be as fast as those 4 KiB.
TEST(Ceilings, Excess_IsThatOfTheMemoryThatIsReused) {
    EXPECT_FALSE(excess_at(39 * GB, 4096));
    EXPECT_TRUE(excess_at(39 * GB, 4097));
    EXPECT_TRUE(excess_at(43 * GB, 4096));
}

TEST(Ceilings, Excess_IsTheWorstOfSeveralLinks) {
    const auto excess = excess_at(80 * GB, 1 << 24);
    ASSERT_TRUE(excess);
    EXPECT_EQ(excess->src, 0) << "eight times its ceiling, and the way back only twice";
}

TEST(Ceilings, WithoutMeasurementOrTime_NothingIsTooFast) {
    schedule::LinkBytes payload{2};
    payload.at(0, 1) = 1'000'000;
    EXPECT_FALSE(Ceilings{}.excess({.engine = "host-shm", .payload = payload, .time_ns = 1}));
    EXPECT_FALSE(excess_at(1000 * GB, 1, "cuda-p2p"));
    for (const double time_ns : {0.0, trace::nan})
        EXPECT_FALSE(two_ranks().excess({.engine = "host-shm", .payload = payload, .time_ns = time_ns}));
}

TEST(Ceilings, LinkThatCarriesNothing_IsNotTooFast) {
    const schedule::LinkBytes none{2};
    EXPECT_FALSE(two_ranks().excess({.engine = "host-shm", .payload = none, .time_ns = 1}));
}

}  // namespace
}  // namespace ringscope::machine
