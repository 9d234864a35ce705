// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "conform/paper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conform/support.hpp"
#include "tests/effort.hpp"

namespace ringscope::conform {
namespace {

using testing::HasSubstr;

std::vector<std::int32_t> up_to(std::int32_t most) {
    std::vector<std::int32_t> ranks;
    for (std::int32_t n = 1; n <= most; ++n) ranks.push_back(n);
    return ranks;
}

TEST(Paper, Full_IsEveryNumberOfRanks) {
    EXPECT_EQ(numbers_of_ranks(Extent::full).size(), 63u);
    EXPECT_EQ(numbers_of_ranks(Extent::full).front(), 2);
    EXPECT_EQ(numbers_of_ranks(Extent::full).back(), 64);
}

/// Six numbers of slots on each number of ranks; one rank needs no schedule.
TEST(Paper, RingIsProvedWithThreeToEightSlots) {
    const int most = sanitized ? 4 : 9;
    for (const std::string id : {"ring-ll", "ring-ll128", "ring-simple"}) {
        const Group group = prove(host_variants(id), up_to(most));
        EXPECT_EQ(group.passed, 6 * (most - 1)) << id << ": " << group.first_failure;
        EXPECT_EQ(group.failed, 0);
        EXPECT_EQ(group.remark, "");
    }
}

/// Twelve sizes on each number of ranks.
TEST(Paper, RingAgreesWithItsLaw) {
    const Group group = compare_with_law(host_variants("ring-simple"), up_to(9));
    EXPECT_EQ(group.passed, 12 * 8);
    EXPECT_EQ(group.failed, 0) << group.first_failure;
}

/// One slot more than an op has parts, so that an op can post before its peer consumes.
TEST(Paper, RingOfWholeSlicesNeedsThreeSlots) {
    EXPECT_EQ(slots_needed(host_variants("ring-simple").front(), 4), 3);
}

TEST(Paper, LawThatIs16BytesOff_FailsOnEveryNumberOfRanks) {
    const Group group = compare_with_law(host_variants("mutant-law"), up_to(5));
    EXPECT_EQ(group.failed, 12 * 4);
    EXPECT_EQ(group.passed, 0);
    EXPECT_EQ(group.code, ExitCode::wrong_result);
    EXPECT_THAT(
        group.first_failure, HasSubstr("on 2 ranks, 0 bytes: link 0 -> 1: closed form 16, declared 0")
    );
}

TEST(Paper, SliceSentTwice_AgreesWithTheProofAndNotWithTheLaw) {
    const std::vector<Variant> twice = host_variants("mutant-sent-twice");
    EXPECT_EQ(prove(twice, {4}).failed, 0);
    EXPECT_GT(compare_with_law(twice, {4}).failed, 0);
}

TEST(Paper, RankLeftOut_FailsTheProof) {
    const Group group = prove(host_variants("mutant-wrong-on-rank-2"), {4});
    EXPECT_EQ(group.failed, 1);
    EXPECT_THAT(group.first_failure, HasSubstr("contribution of rank 2 0 times"));
}

TEST(Paper, PluginThatThrows_IsAFailureNotAnEnd) {
    const Group group = prove(host_variants("mutant-throws"), {2, 3});
    EXPECT_EQ(group.failed, 2);
    EXPECT_EQ(group.code, ExitCode::internal);
}

}  // namespace
}  // namespace ringscope::conform
