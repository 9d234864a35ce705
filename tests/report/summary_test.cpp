// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/summary.hpp"

#include <gtest/gtest.h>

#include "tests/report/samples.hpp"

namespace ringscope::report {
namespace {

using samples::ended;
using samples::ring_case;

// 1 GiB in 3300 us on 2 ranks: NCCL's measured case, 1073741824 / 3.3e-3 = 325.4 GB/s.
TEST(Bandwidth, OfTwoRanksIsTheSame) {
    CaseSummary summary = ring_case(1073741824, 3'300'000, false);
    summary.ranks = 2;
    EXPECT_NEAR(summary.algbw(), 325.376, 0.001);
    EXPECT_DOUBLE_EQ(summary.busbw(), summary.algbw());
}

// nccl-tests' formula for all-reduce: busbw = algbw * 2 * (n - 1) / n.
TEST(Bandwidth, FollowsTheFormulaForEveryNumberOfRanks) {
    const double factors[] = {0, 1, 4.0 / 3, 1.5, 1.6};
    for (int ranks = 1; ranks <= 5; ++ranks) {
        CaseSummary summary = ring_case(1000, 1000, false);
        summary.ranks = ranks;
        EXPECT_DOUBLE_EQ(summary.algbw(), 1.0);
        EXPECT_DOUBLE_EQ(summary.busbw(), factors[ranks - 1]) << ranks;
    }
}

TEST(Bandwidth, OfTheBusiestLinkOfARingIsItsBusBandwidth) {
    const CaseSummary summary = ring_case(4096, 777, false);
    EXPECT_DOUBLE_EQ(summary.link_bandwidth(), summary.busbw());
}

TEST(Bandwidth, WithoutAVerifiedTimeIsNone) {
    for (const auto status :
         {trace::CaseStatus::wrong, trace::CaseStatus::timeout, trace::CaseStatus::failed,
          trace::CaseStatus::skipped}) {
        const CaseSummary summary = ended(ring_case(1024, 1000, false), status, "");
        EXPECT_TRUE(
            std::isnan(summary.algbw()) && std::isnan(summary.busbw()) && std::isnan(summary.link_bandwidth())
        );
    }
    EXPECT_TRUE(std::isnan(ring_case(1024, samples::nan, false).busbw()));
    EXPECT_TRUE(std::isnan(ring_case(1024, 0, false).busbw())) << "no time is no infinite speed";
}

TEST(Bandwidth, OfNoBytesIsZero) {
    EXPECT_EQ(ring_case(0, 500, false).busbw(), 0);
}

TEST(Explanation, IsOneLine) {
    const auto summary = ended(ring_case(8, 1, false), trace::CaseStatus::failed, "one\ntwo");
    EXPECT_EQ(explanation(summary), "failed: one two");
    EXPECT_EQ(explanation(ring_case(8, 1, false)), "");
}

TEST(Label, NamesParameters) {
    EXPECT_EQ(label({"ring-simple", {{"slots", 3}, {"channels", 2}}}), "ring-simple channels=2 slots=3");
}

TEST(Label, NamesWordsFirst) {
    EXPECT_EQ(
        label({"nccl", {{"max_ctas", 4}}, {{"proto", "ll"}, {"algo", "ring"}}}),
        "nccl algo=ring proto=ll max_ctas=4"
    );
}

TEST(Statistic, IsThatOfTheMode) {
    EXPECT_EQ(statistic_of(Mode::isolated, 20), "median of 20 samples");
    EXPECT_EQ(statistic_of(Mode::back_to_back, 20), "mean of 20 operations");
    EXPECT_EQ(statistic_of(Mode::graph, 7), "median of 7 graphs");
}

}  // namespace
}  // namespace ringscope::report
