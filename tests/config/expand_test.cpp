// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/experiment.hpp"
#include "tests/config/support.hpp"

namespace ringscope {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> sizes_of(const std::string& sizes) {
    return parse(with_sweep("sizes: " + sizes)).sizes;
}

TEST(Sizes, a_factor_reaches_the_end_only_when_hit_exactly) {
    EXPECT_THAT(sizes_of("{from: 3, to: 12, factor: 2}"), ElementsAre(3, 6, 12));
    EXPECT_THAT(sizes_of("{from: 3, to: 11, factor: 2}"), ElementsAre(3, 6));
    EXPECT_THAT(sizes_of("{from: 5, to: 5, factor: 2}"), ElementsAre(5));
    EXPECT_THAT(sizes_of("{from: 0, to: 0, factor: 2}"), ElementsAre(0));
}

TEST(Sizes, a_step_reaches_the_end_only_when_hit_exactly) {
    EXPECT_THAT(sizes_of("{from: 0, to: 8, step: 4}"), ElementsAre(0, 4, 8));
    EXPECT_THAT(sizes_of("{from: 1, to: 8, step: 4}"), ElementsAre(1, 5));
    EXPECT_THAT(sizes_of("{from: 0, to: 1, step: 1G}"), ElementsAre(0));
}

TEST(Sizes, at_the_largest_legal_end_do_not_overflow) {
    EXPECT_EQ(sizes_of("{from: 1, to: 4611686018427387904, factor: 2}").size(), 63U);  // 2^0 .. 2^62
    EXPECT_THAT(
        sizes_of("{from: 4611686018427387903, to: 4611686018427387904, factor: 1048576}"),
        ElementsAre(4611686018427387903)
    );
    EXPECT_THAT(
        sizes_of("{from: 4611686018427387900, to: 4611686018427387904, step: 4611686018427387904}"),
        ElementsAre(4611686018427387900)
    );
}

TEST(Sizes, of_a_list_are_kept_as_they_stand) {
    EXPECT_THAT(sizes_of("[8, 0, 8, 1K]"), ElementsAre(8, 0, 8, 1024));
}

TEST(Expand, rounds_bytes_down_to_whole_elements) {
    Experiment experiment;
    experiment.algorithms = {{"ring-ll", {}}};
    experiment.dtypes = {DataType::float64};
    experiment.sizes = {0, 7, 8, 23};
    std::vector<std::int64_t> bytes, counts;
    for (const Case& one : expand(experiment)) {
        bytes.push_back(one.bytes);
        counts.push_back(one.count);
    }
    EXPECT_THAT(bytes, ElementsAre(0, 0, 8, 16));
    EXPECT_THAT(counts, ElementsAre(0, 0, 1, 2));
}

TEST(Expand, goes_through_the_product_in_the_order_of_the_sweep) {
    Experiment experiment;
    experiment.algorithms = {{"a", {}}, {"b", {}}};
    experiment.engines = {"e", "f"};
    experiment.measure.modes = {Mode::isolated, Mode::back_to_back};
    experiment.dtypes = {DataType::float32, DataType::uint8};
    experiment.ops = {ReduceOp::sum, ReduceOp::max};
    experiment.offsets = {0, 1};
    experiment.sizes = {4, 8};
    experiment.in_place = {false, true};
    const auto cases = expand(experiment);
    ASSERT_EQ(cases.size(), 256U);
    // Eight lists of two: bit 7 of the index chooses the algorithm, bit 0 in_place.
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& one = cases[i];
        EXPECT_EQ(one.index, static_cast<std::int32_t>(i));
        EXPECT_EQ(one.algorithm.id, i & 128 ? "b" : "a");
        EXPECT_EQ(one.engine, i & 64 ? "f" : "e");
        EXPECT_EQ(one.mode, i & 32 ? Mode::back_to_back : Mode::isolated);
        EXPECT_EQ(one.dtype, i & 16 ? DataType::uint8 : DataType::float32);
        EXPECT_EQ(one.op, i & 8 ? ReduceOp::max : ReduceOp::sum);
        EXPECT_EQ(one.offset, i & 4 ? 1 : 0);
        EXPECT_EQ(one.bytes, i & 2 ? 8 : 4);
        EXPECT_EQ(one.in_place, (i & 1) != 0);
    }
}

TEST(Expand, runs_baselines_once_whatever_the_engines) {
    Experiment experiment;
    experiment.algorithms = {{"ring-ll", {}}, {"mpi", {}}};
    experiment.engines = {"auto", "host-shm"};
    experiment.sizes = {8};
    const auto cases = expand(experiment);
    ASSERT_EQ(cases.size(), 3U);
    EXPECT_EQ(cases[1].engine, "host-shm");
    EXPECT_EQ(cases[2].algorithm.id, "mpi");
    EXPECT_EQ(cases[2].engine, "auto");
}

}  // namespace
}  // namespace ringscope
