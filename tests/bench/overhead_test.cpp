// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/overhead.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bench/sample_plan.hpp"
#include "bench/times.hpp"

namespace ringscope::bench {
namespace {

/// A case as it is sampled: `iterations` timed and `traced` traced samples, each as long as `ns` says.
template <class Length>
std::vector<TimedSample> series(std::int64_t iterations, std::int64_t traced, Length ns) {
    std::vector<TimedSample> samples;
    Measure measure;
    measure.iterations = iterations;
    for (const PlannedSample& planned : plan_samples(measure, Mode::isolated, 1, traced))
        samples.push_back({ns(planned.traced, static_cast<double>(samples.size())), planned.traced});
    return samples;
}

TEST(Overhead, ConstantTimes_GiveTheirRatioExactly) {
    const Overhead overhead =
        measure_overhead(series(100, 30, [](bool traced, double) { return traced ? 110.0 : 100.0; }));
    EXPECT_NEAR(overhead.share, 0.1, 1e-12);
    EXPECT_NEAR(overhead.interval.low, 0.1, 1e-12);
    EXPECT_NEAR(overhead.interval.high, 0.1, 1e-12);
    EXPECT_DOUBLE_EQ(overhead.ns, 10);
    EXPECT_DOUBLE_EQ(overhead.noise_floor, 0);
}

/// All traced samples at the end would make 40 % of this.
TEST(Overhead, Drift_IsNoOverhead) {
    const auto drifting = [](bool, double i) { return 100 + i; };
    const Overhead overhead = measure_overhead(series(100, 30, drifting));
    EXPECT_NEAR(overhead.share, 0, 0.002);
    EXPECT_LE(overhead.interval.high, 0.01);
}

TEST(Overhead, OneOutlierPerBlock_DoesNotCount) {
    const auto spiky = [](bool traced, double i) {
        return traced ? (static_cast<int>(i) % 3 == 0 ? 900.0 : 102.0) : 100.0;
    };
    EXPECT_NEAR(measure_overhead(series(100, 30, spiky)).share, 0.02, 1e-9);
}

/// Tracing that costs nothing is within its own noise floor nearly always, and one that costs far more never.
TEST(Overhead, NoiseFloor_SeparatesNoneFromMuch) {
    std::mt19937_64 random{1};
    std::normal_distribution<double> noise{0, 2};
    int none_inside = 0, much_outside = 0;
    for (int i = 0; i < 200; ++i) {
        const auto none = [&](bool, double) { return 100 + noise(random); };
        const auto much = [&](bool traced, double) { return (traced ? 110 : 100) + noise(random); };
        const Overhead a = measure_overhead(series(100, 30, none));
        const Overhead b = measure_overhead(series(100, 30, much));
        none_inside += std::abs(a.share) <= a.noise_floor ? 1 : 0;
        much_outside += b.share > b.noise_floor ? 1 : 0;
    }
    EXPECT_GE(none_inside, 180);
    EXPECT_EQ(much_outside, 200);
}

TEST(Overhead, FewBlocks_HaveNoInterval) {
    const Overhead few = measure_overhead(series(20, 2, [](bool t, double) { return t ? 3.0 : 2.0; }));
    EXPECT_DOUBLE_EQ(few.share, 0.5);
    EXPECT_TRUE(std::isnan(few.interval.low));
    const Overhead nothing = measure_overhead(series(5, 0, [](bool, double) { return 1.0; }));
    EXPECT_TRUE(std::isnan(nothing.share));
    EXPECT_TRUE(std::isnan(nothing.noise_floor));
}

TEST(SamplePlan, TracedBlocks_LieBetweenUntracedOnes) {
    Measure measure;
    measure.iterations = 10;
    std::string order;
    for (const PlannedSample& s : plan_samples(measure, Mode::isolated, 1, 9)) order += s.traced ? 'T' : 'u';
    EXPECT_EQ(order, "uuuTTTuuTTTuuuTTTuu");
}

TEST(SamplePlan, Modes_HaveTheirOperations) {
    Measure measure;
    measure.iterations = 5;
    using Plan = std::vector<PlannedSample>;
    const PlannedSample one, two{.ops = 2}, traced{.traced = true}, traced_two{.traced = true, .ops = 2};
    EXPECT_EQ(plan_samples(measure, Mode::back_to_back, 2, 1), (Plan{two, two, traced, one}));
    EXPECT_EQ(plan_samples(measure, Mode::graph, 2, 1), (Plan{two, two, two, traced_two, two, two}));
    EXPECT_EQ(plan_samples(measure, Mode::isolated, 2, 0), (Plan{two, two, two, two, two}));
}

TEST(Times, SeriesThatDecays_BeginsSlower_NoiseDoesNot) {
    std::mt19937_64 random{1};
    std::normal_distribution<double> noise{100, 3};
    int flagged = 0;
    for (int run = 0; run < 500; ++run) {
        std::vector<double> flat(40);
        for (double& value : flat) value = noise(random);
        flagged += begins_slower(flat) ? 1 : 0;
    }
    EXPECT_LE(flagged, 5);
    std::vector<double> decaying;
    for (int i = 0; i < 40; ++i) decaying.push_back(100 + 80 * std::exp(-i / 5.0));
    EXPECT_TRUE(begins_slower(decaying));
    EXPECT_FALSE(begins_slower({9, 1, 1, 1, 1, 1})) << "too few to say";
}

}  // namespace
}  // namespace ringscope::bench
