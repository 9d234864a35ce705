// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/line.hpp"
#include "tests/clock/true_clock.hpp"
#include "tests/effort.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ringscope::clock {
namespace {

constexpr std::int64_t us = 1'000, ms = 1'000'000, second = 1'000'000'000, hour = 3600 * second;

/// Questions in even distances, whose ways take 2 us there and 8 us back, and tails that are not the same
/// either; one in twenty loses a millisecond on one of them.
std::vector<Exchange> asked(
    const TrueClock& truth, int questions, std::int64_t distance_ns, std::uint64_t seed
) {
    std::mt19937_64 random{seed};
    std::exponential_distribution<double> there{1.0 / 3'000}, back{1.0 / 9'000};
    std::uniform_int_distribution<int> lost{0, 19};
    const auto way = [&](std::int64_t least_ns, auto& tail) {
        return least_ns + static_cast<std::int64_t>(tail(random)) + (lost(random) == 0 ? 1 * ms : 0);
    };
    std::vector<Exchange> exchanges;
    for (int i = 0; i < questions; ++i) {
        const std::int64_t begin = hour + i * distance_ns, answered = begin + way(2 * us, there);
        exchanges.push_back({begin, truth.at(answered), answered + way(8 * us, back)});
    }
    return exchanges;
}

std::int64_t off_by(const Line& line, const TrueClock& truth, std::int64_t reference_ns) {
    return std::abs(line.from_reference(reference_ns) - truth.at(reference_ns));
}

bool holds(const Line& line, const TrueClock& truth) {
    for (const std::int64_t later : {0 * second, 1 * second, 10 * second, 1000 * second}) {
        const std::int64_t moment = line.at_ns + later;
        if (off_by(line, truth, moment) > line.error_at(moment)) return false;
    }
    return true;
}

TEST(Line, ExchangesWithoutDelay_GiveTheLineItself) {
    const Line line = fit(std::vector<Exchange>{{0, 500, 0}, {1 * second, second + 50'500, 1 * second}});
    EXPECT_EQ(line.at_ns, 1 * second);
    EXPECT_EQ(line.offset_ns, 50'500);
    EXPECT_NEAR(line.drift, 50e-6, 1e-12);
    EXPECT_LE(line.error_ns, 2);
    EXPECT_EQ(line.offset_at(3 * second), 150'500);
    EXPECT_EQ(line.from_reference(0), 500);
}

/// 10 us there and back: 5 us, and a line that misses neither. It may be tilted by 10 us in a second.
TEST(Line, ErrorIsHalfOfTheRoundTrip_AndWhatTheLineMisses) {
    const Line exact =
        fit(std::vector<Exchange>{{0, 5 * us, 10 * us}, {second, second + 5 * us, second + 10 * us}});
    EXPECT_NEAR(static_cast<double>(exact.error_ns), 5'000, 10);
    EXPECT_NEAR(exact.drift_error, 10e-6, 0.1e-6);
    EXPECT_NEAR(static_cast<double>(exact.error_at(exact.at_ns + 10 * second)), 105'000, 200);
    EXPECT_NEAR(static_cast<double>(exact.error_at(exact.at_ns - second)), 15'000, 30);

    // Offsets of 0, 3, 0 us: the least squares are those of the mean, 1 us, which misses the second by 2
    // and the others by 1. These allow it to be tilted by 12 us in 2 s.
    const Line bent = fit(std::vector<Exchange>{
        {0, 5 * us, 10 * us},
        {second, second + 8 * us, second + 10 * us},
        {2 * second, 2 * second + 5 * us, 2 * second + 10 * us}});
    EXPECT_EQ(bent.offset_ns, 1 * us);
    EXPECT_NEAR(static_cast<double>(bent.error_ns), 6'000, 10);
    EXPECT_NEAR(bent.drift_error, 6e-6, 0.1e-6);
}

TEST(Line, OneExchange_KnowsNothingOfTheDrift) {
    const Line line = fit(std::vector<Exchange>{{0, 1'000, 100}});
    EXPECT_EQ(line.offset_ns, 950);
    EXPECT_EQ(line.drift, 0);
    EXPECT_GE(line.drift_error, 600e-6) << "a crystal, and the most by which the kernel hastens or slows it";
}

TEST(Line, ThereAndBack_IsTheSameMoment) {
    const Line line{.at_ns = 7 * hour, .offset_ns = -3 * hour, .drift = 80e-6};
    for (const std::int64_t moment : {std::int64_t{0}, 7 * hour, 7 * hour + 1, 20 * hour})
        EXPECT_NEAR(static_cast<double>(line.to_reference(line.from_reference(moment)) - moment), 0, 1);
}

TEST(Line, TruthLiesWithinTheError_AlsoLater_HoweverUnevenTheWays) {
    std::int64_t largest = 0;
    for (std::uint64_t seed = 1; seed <= (sanitized ? 50 : 1000); ++seed) {
        const TrueClock truth{
            static_cast<std::int64_t>(seed % 7) * hour - 3 * hour, 50e-6 - 1e-7 * static_cast<double>(seed)};
        const Line line = fit(asked(truth, 40, 10 * ms, seed));
        EXPECT_TRUE(holds(line, truth)) << seed;
        largest = std::max(largest, line.error_ns);
    }
    EXPECT_LT(largest, 40 * us) << "the short ways count, not those that lost a millisecond";
}

/// The same seeds find a fit that believes in equal ways, that forgets the drift or its error.
TEST(Line, MutantsThatAreTooSure_AreFound) {
    int bold = 0, flat = 0, certain = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const TrueClock truth{2 * hour, 50e-6};
        const Line line = fit(asked(truth, 40, 250 * ms, seed));
        Line mutant = line;
        mutant.error_ns /= 3;
        mutant.drift_error /= 3;
        bold += holds(mutant, truth) ? 0 : 1;
        mutant = line;
        mutant.drift = 0;
        flat += holds(mutant, truth) ? 0 : 1;
        mutant = line;
        mutant.drift_error = 0;
        certain += holds(mutant, truth) ? 0 : 1;
    }
    EXPECT_GT(bold, 0);
    EXPECT_EQ(flat, 200);
    EXPECT_GT(certain, 100);
}

/// Two lines by hand: 100 ns + 1 per 1000 from 0 on, then 10 ns + 2 per 1000 from 1100 on.
TEST(Line, Composed_IsOneAfterTheOther) {
    const Line first{.at_ns = 0, .offset_ns = 100, .drift = 1e-3, .error_ns = 5, .drift_error = 1e-6};
    const Line second_line{
        .at_ns = 1'101, .offset_ns = 10, .drift = 2e-3, .error_ns = 7, .drift_error = 2e-6};
    const Line both = compose(first, second_line);
    EXPECT_NEAR(static_cast<double>(both.at_ns), 1'000, 1);
    EXPECT_NEAR(static_cast<double>(both.offset_ns), 111, 1);
    EXPECT_NEAR(both.drift, 3.002e-3, 1e-9);
    EXPECT_GE(both.error_ns, 12);
    EXPECT_LE(both.error_ns, 16);
    EXPECT_NEAR(both.drift_error, 3e-6, 1e-8);
    const std::int64_t later = 5'000'000;
    EXPECT_NEAR(
        static_cast<double>(both.from_reference(later)),
        static_cast<double>(second_line.from_reference(first.from_reference(later))), 2
    );
}

}  // namespace
}  // namespace ringscope::clock
