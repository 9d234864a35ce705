// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/health_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace ringscope::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::HealthRow;
using Way = LinkLoad::Way;

const std::string gpu = "0000:17:00.0";
constexpr std::int64_t second = 1'000'000'000;

/// A GPU of rank 0 in full health: Gen5 x16, 63.0 GB/s each way (32 GT/s x 16 x 128/130 / 8).
HealthRow healthy(std::int64_t at_s = 0) {
    return {
        .device = gpu,
        .time_ns = at_s * second,
        .link_gts = 32,
        .link_width = 16,
        .path_gbps = 63,
        .aer_correctable = 5,
        .aer_nonfatal = 0,
        .aer_fatal = 0,
        .xids = 1,
        .sm_clock_mhz = 1980,
        .throttle = "idle",
        .throttled_ns = 7 * second,
        .temperature_c = 40,
        .power_w = 100};
}

const LinkLoad busy{Way::through, {second}};

using Spoil = std::function<void(HealthRow&)>;

/// Marks of a case of one second that ended with this reading.
std::vector<std::string> marks(
    const Spoil& spoil, const LinkLoad& load = busy, std::set<std::string> over_nvlink = {},
    const Spoil& before = [](HealthRow&) {}
) {
    HealthRow first = healthy(), second_row = healthy(1);
    before(first);
    spoil(second_row);
    HealthWatch watch{std::move(over_nvlink)};
    EXPECT_THAT(watch.compare({first}, {}), IsEmpty()) << "the first reading";
    std::vector<std::string> found;
    for (const HealthChange& change : watch.compare({second_row}, load)) found.push_back(change.mark);
    return found;
}

TEST(HealthWatch, NothingChanged_NoMark) {
    EXPECT_THAT(marks([](HealthRow&) {}), IsEmpty());
}

TEST(HealthWatch, WhatMayChange_NoMark) {
    EXPECT_THAT(
        marks([](HealthRow& row) {
            row.sm_clock_mhz = 345;
            row.temperature_c = 90;
            row.power_w = 700;
            row.throttle = "idle power_cap application_clocks sync_boost";
        }),
        IsEmpty()
    );
}

TEST(HealthWatch, ASlowerLinkUnderLoad) {
    const auto slower = [](HealthRow& row) { row.link_gts = 2.5, row.path_gbps = 4; };
    EXPECT_THAT(marks(slower), ElementsAre("link-changed")) << "said once, though the path has it too";
    EXPECT_THAT(marks([](HealthRow& row) { row.path_gbps = 31.5; }), ElementsAre("link-changed"));
}

TEST(HealthWatch, ASlowerLinkThatMayBeIdle_NoMark) {
    const auto slower = [](HealthRow& row) { row.link_gts = 2.5, row.path_gbps = 4; };
    EXPECT_THAT(marks(slower, {Way::through, {second / 10 - 1}}), IsEmpty()) << "too short a case";
    EXPECT_THAT(marks(slower, {Way::through, {second / 10}}), ElementsAre("link-changed"));
    EXPECT_THAT(marks(slower, {Way::none, {second}}), IsEmpty()) << "played on the host";
    EXPECT_THAT(marks(slower, {Way::peers, {second}}, {gpu}), IsEmpty()) << "past the PCIe link";
    EXPECT_THAT(marks(slower, {Way::peers, {second}}, {"0000:18:00.0"}), ElementsAre("link-changed"));
    EXPECT_THAT(marks(slower, {Way::through, {second}}, {gpu}), ElementsAre("link-changed"))
        << "staged through the host";
}

TEST(HealthWatch, ANarrowerLink_IdleOrNot) {
    const auto narrower = [](HealthRow& row) { row.link_width = 1, row.path_gbps = 3.9; };
    EXPECT_THAT(marks(narrower), ElementsAre("link-changed"));
    EXPECT_THAT(marks(narrower, {Way::peers, {0}}, {gpu}), ElementsAre("link-changed"));
    EXPECT_THAT(marks(narrower, {}), ElementsAre("link-changed"));
}

TEST(HealthWatch, AnIdleLinkThatSpeedsUp_NoMark) {
    const auto idle = [](HealthRow& row) { row.link_gts = 2.5, row.path_gbps = 4; };
    EXPECT_THAT(marks([](HealthRow&) {}, busy, {}, idle), IsEmpty());
}

/// The best of the run counts, not the reading before alone.
TEST(HealthWatch, ALinkThatStaysBelowItsBest_MarksEveryCase) {
    HealthWatch watch{{}};
    HealthRow row = healthy();
    row.link_gts = 2.5;
    (void)watch.compare({row}, {});
    row.link_gts = 32;
    EXPECT_THAT(watch.compare({row}, busy), IsEmpty());
    row.link_gts = 16;
    EXPECT_THAT(watch.compare({row}, busy), testing::SizeIs(1));
    EXPECT_THAT(watch.compare({row}, busy), testing::SizeIs(1)) << "the case after it ran on the same link";
}

TEST(HealthWatch, EachCounterOfErrors) {
    EXPECT_THAT(marks([](HealthRow& row) { ++row.aer_correctable; }), ElementsAre("aer-errors"));
    EXPECT_THAT(marks([](HealthRow& row) { ++row.aer_nonfatal; }), ElementsAre("aer-errors"));
    EXPECT_THAT(marks([](HealthRow& row) { ++row.aer_fatal; }), ElementsAre("aer-errors"));
    EXPECT_THAT(marks([](HealthRow& row) { ++row.xids; }), ElementsAre("xid"));
}

TEST(HealthWatch, CountersThatBeginAnewOrBecomeKnown_NoMark) {
    EXPECT_THAT(marks([](HealthRow& row) { row.aer_correctable = 0, row.xids = 0; }), IsEmpty());
    EXPECT_THAT(
        marks([](HealthRow& row) { row.aer_correctable = row.xids = row.throttled_ns = -1; }), IsEmpty()
    );
    EXPECT_THAT(
        marks(
            [](HealthRow&) {}, busy, {},
            [](HealthRow& row) { row.aer_correctable = row.aer_fatal = row.xids = row.throttled_ns = -1; }
        ),
        IsEmpty()
    );
}

TEST(HealthWatch, AClockHeldDownForMoreThanAHundredthOfTheTime) {
    const auto held = [](std::int64_t ns) { return [ns](HealthRow& row) { row.throttled_ns += ns; }; };
    EXPECT_THAT(marks(held(second / 100)), IsEmpty());
    EXPECT_THAT(marks(held(second / 100 + 1)), ElementsAre("throttled"));
    EXPECT_THAT(marks(held(-second)), IsEmpty());
}

TEST(HealthWatch, WordsOfASlowdown) {
    for (const char* word : {"hardware_slowdown", "thermal", "hardware_thermal", "power_brake"})
        EXPECT_THAT(
            marks([&](HealthRow& row) { row.throttle = std::string{"idle "} + word; }),
            ElementsAre("throttled")
        ) << word;
}

TEST(HealthWatch, WhatIsNotKnownOfALink_NoMark) {
    EXPECT_THAT(
        marks([](HealthRow& row) { row.link_gts = row.path_gbps = trace::nan, row.link_width = -1; }),
        IsEmpty()
    );
}

TEST(HealthWatch, EveryDeviceIsHeldAgainstItself) {
    HealthRow other = healthy();
    other.rank = 1, other.device = "0000:18:00.0", other.link_width = 8, other.aer_correctable = 0;
    HealthWatch watch{{}};
    (void)watch.compare({healthy(), other}, {});
    other.time_ns = second;
    EXPECT_THAT(watch.compare({healthy(1), other}, {Way::through, {second, second}}), IsEmpty());
}

TEST(HealthWatch, WordsNameDeviceAndChange) {
    HealthWatch watch{{}};
    HealthRow host{.rank = 2, .device = trace::host_device, .throttled_ns = 0};
    (void)watch.compare({healthy(), host}, {});
    HealthRow row = healthy(2);
    row.link_width = 4, row.aer_correctable += 3;
    host.time_ns = 2 * second, host.throttled_ns = second;
    const auto changes = watch.compare({row, host}, {});
    EXPECT_EQ(
        in_words(changes),
        "0000:17:00.0: PCIe x16 became x4; 0000:17:00.0: 3 more corrected PCIe errors; the host of rank 2: "
        "held "
        "down for 50 % of the time"
    );

    trace::CaseRow quiet, told;
    told.reason = "by copy engines";
    note_changes(changes, quiet);
    note_changes(changes, told);
    EXPECT_EQ(quiet.marks, "link-changed aer-errors throttled");
    EXPECT_EQ(quiet.reason, in_words(changes));
    EXPECT_EQ(told.marks, quiet.marks);
    EXPECT_EQ(told.reason, "by copy engines; " + in_words(changes));
    note_changes({}, told);
    EXPECT_EQ(told.reason, "by copy engines; " + in_words(changes));
}

}  // namespace
}  // namespace ringscope::bench
