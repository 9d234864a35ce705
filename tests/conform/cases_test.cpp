// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "conform/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace ringscope::conform {
namespace {

using testing::IsSupersetOf;

Subject ring(std::int32_t ranks, Extent extent) {
    return {
        .as_it_is = {.id = "ring-ll"},
        .variants = {},
        .engine = "host-shm",
        .ranks = ranks,
        .slots = 4,
        .extent = extent};
}

std::vector<Case> all_cases(const Subject& subject) {
    std::vector<Case> all;
    for (const CaseGroup& group : case_groups(subject)) {
        for (const Case& one : expand(group.experiment)) all.push_back(one);
    }
    return all;
}

template <class Value>
auto set_of(const std::vector<Case>& cases, Value value) {
    std::set<decltype(value(cases.front()))> values;
    for (const Case& one : cases) values.insert(value(one));
    return values;
}

TEST(Cases, HaveCountsAroundTheNumberOfRanks_BothPlacesAndOffsets) {
    for (const Extent extent : {Extent::reduced, Extent::full}) {
        const std::vector<Case> cases = all_cases(ring(5, extent));
        const auto counts = set_of(cases, [](const Case& c) { return c.count; });
        EXPECT_THAT(counts, IsSupersetOf({0, 1, 4, 5, 6, 1023, 65537}));
        EXPECT_EQ(set_of(cases, [](const Case& c) { return std::pair{c.offset, c.in_place}; }).size(), 4u);
    }
}

/// But for the two 8-bit floats, which are NCCL's alone.
TEST(Cases, HaveEveryTypeWithEveryOperation) {
    const auto pairs = set_of(all_cases(ring(3, Extent::reduced)), [](const Case& c) {
        return std::pair{c.dtype, c.op};
    });
    EXPECT_EQ(pairs.size(), std::size_t{(RINGSCOPE_DTYPE_COUNT - 2) * RINGSCOPE_REDUCTION_COUNT});
}

TEST(Cases, OfABaseline_HaveEveryTypeAndNoSlots) {
    Subject nccl = ring(2, Extent::reduced);
    nccl.opaque = nccl.on_device = true;
    const std::vector<Case> cases = all_cases(nccl);
    const auto types = set_of(cases, [](const Case& c) { return c.dtype; });
    EXPECT_EQ(types.size(), std::size_t{RINGSCOPE_DTYPE_COUNT});
    EXPECT_EQ(set_of(cases, [](const Case& c) { return c.algorithm.params; }).size(), 1u);
    EXPECT_EQ(set_of(cases, [](const Case& c) { return c.mode; }).size(), 3u);
}

TEST(Cases, UseTheFewestSlots_ForAllOnOneChannel_AndForTheLeastOnThree) {
    const auto choices = set_of(all_cases(ring(4, Extent::reduced)), [](const Case& c) {
        return std::pair{c.algorithm.params, c.algorithm.words};
    });
    using Params = std::map<std::string, std::int64_t>;
    using Words = std::map<std::string, std::string>;
    const Params one{{"channels", 1}, {"slots", 4}, {"slot_bytes", 512}};
    const Params three{{"channels", 3}, {"slots", 4}, {"slot_bytes", 512}};
    EXPECT_EQ(choices.count(std::pair{one, Words{{"direct", "none"}}}), 1u);
    EXPECT_EQ(choices.count(std::pair{three, Words{{"direct", "all"}}}), 1u);
}

TEST(Cases, AreEachTraced_AndNeverAskForAGraphOnTheHost) {
    for (const CaseGroup& group : case_groups(ring(4, Extent::full))) {
        EXPECT_TRUE(group.experiment.trace.enabled && group.experiment.trace.iterations > 0) << group.name;
        for (const Mode mode : group.experiment.measure.modes) EXPECT_NE(mode, Mode::graph) << group.name;
    }
}

TEST(Cases, OfTheReducedGate_AreFew) {
    EXPECT_LT(all_cases(ring(8, Extent::reduced)).size(), 130u);
    EXPECT_GT(all_cases(ring(8, Extent::full)).size(), 250u);
}

}  // namespace
}  // namespace ringscope::conform
