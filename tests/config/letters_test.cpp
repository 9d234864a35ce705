// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/config/support.hpp"

namespace ringscope {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::string error_of_letters(const Letters& letters, const std::vector<std::string>& overrides = {}) {
    try {
        static_cast<void>(experiment_from_letters(letters, vocabulary(), overrides));
    } catch (const Error& error) {
        return error.code() == ExitCode::usage ? error.what() : std::string{"wrong code: "} + error.what();
    }
    return "no error";
}

TEST(Letters, none_means_what_it_means_in_nccl_tests) {
    const Experiment e = experiment_from_letters({}, vocabulary());
    EXPECT_EQ(e.name, "run");
    EXPECT_THAT(e.sizes, ElementsAre(32 << 20));
    EXPECT_THAT(e.in_place, ElementsAre(false, true));
    EXPECT_THAT(e.measure.modes, ElementsAre(Mode::isolated));
    EXPECT_THAT(
        e.algorithms, ElementsAre(AlgorithmChoice{"ring-ll", {}}, AlgorithmChoice{"ring-simple", {}})
    );
    EXPECT_EQ(e.output, "");
    EXPECT_EQ(e.original_text, "");
}

TEST(Letters, factor_and_increment) {
    Letters letters{.min_bytes = "8", .max_bytes = "64", .factor = "2"};
    EXPECT_THAT(experiment_from_letters(letters, vocabulary()).sizes, ElementsAre(8, 16, 32, 64));
    letters = {.min_bytes = "1M", .max_bytes = "3M"};
    EXPECT_THAT(experiment_from_letters(letters, vocabulary()).sizes, ElementsAre(1 << 20, 2 << 20, 3 << 20));
    letters = {.min_bytes = "0", .max_bytes = "8", .factor = "1", .increment = "4"};
    EXPECT_THAT(experiment_from_letters(letters, vocabulary()).sizes, ElementsAre(0, 4, 8));
}

TEST(Letters, reach_every_value) {
    const Letters letters{
        .iterations = "3",
        .warmup = "0",
        .dtype = "half",
        .op = "max",
        .check = "1",
        .graph = "0",
        .algorithms = "mpi,ring-ll"};
    const Experiment e =
        experiment_from_letters(letters, vocabulary(), std::vector<std::string>{"output=x.h5"});
    EXPECT_EQ(e.measure.iterations, 3);
    EXPECT_EQ(e.measure.warmup, 0);
    EXPECT_THAT(e.dtypes, ElementsAre(DataType::float16));
    EXPECT_THAT(e.ops, ElementsAre(ReduceOp::max));
    EXPECT_THAT(e.algorithms, ElementsAre(AlgorithmChoice{"mpi", {}}, AlgorithmChoice{"ring-ll", {}}));
    EXPECT_EQ(e.output, "x.h5");
}

TEST(Letters, types_by_the_names_of_nccl_tests) {
    const Experiment e = experiment_from_letters({.dtype = "int8,uint32,uint64,f8e4m3,f8e5m2"}, vocabulary());
    EXPECT_THAT(
        e.dtypes,
        ElementsAre(
            DataType::int8, DataType::uint32, DataType::uint64, DataType::float8_e4m3, DataType::float8_e5m2
        )
    );
}

TEST(Letters, all_means_every_type_and_reduction) {
    const Experiment e = experiment_from_letters({.dtype = "all", .op = "all"}, vocabulary());
    EXPECT_EQ(e.dtypes.size(), 12U);
    EXPECT_EQ(e.ops.size(), 5U);
}

TEST(Letters, graph_of_any_number_but_0_is_the_mode_graph) {
    const auto modes = [](const char* graph) {
        return experiment_from_letters({.graph = graph}, vocabulary()).measure.modes;
    };
    EXPECT_THAT(modes("0"), ElementsAre(Mode::isolated));
    EXPECT_THAT(modes("1"), ElementsAre(Mode::graph));
    EXPECT_THAT(modes("20"), ElementsAre(Mode::graph));
}

TEST(Letters, g_is_the_number_of_devices_of_the_process) {
    EXPECT_EQ(experiment_from_letters({}, vocabulary()).measure.devices_per_rank, 1);
    EXPECT_EQ(experiment_from_letters({.devices = "2"}, vocabulary()).measure.devices_per_rank, 2);
}

TEST(Letters, errors_name_the_letter) {
    EXPECT_THAT(error_of_letters({.devices = "0"}), StartsWith("-g 0: `measure.devices_per_rank` must be"));
    EXPECT_THAT(
        error_of_letters({.min_bytes = "8Q"}), StartsWith("-b 8Q: `sweep.sizes.from` must be a size")
    );
    EXPECT_THAT(error_of_letters({.max_bytes = "[1"}), StartsWith("-e [1: "));
    EXPECT_THAT(
        error_of_letters({.min_bytes = "64M"}), StartsWith("-b 64M: `from` (67108864 bytes) is larger")
    );
    EXPECT_THAT(error_of_letters({.factor = "0"}), StartsWith("-f 0: `sweep.sizes.factor` must be"));
    EXPECT_THAT(error_of_letters({.increment = "0"}), StartsWith("-i 0: `step` must not be 0"));
    EXPECT_THAT(
        error_of_letters({.iterations = "many"}), StartsWith("-n many: `measure.iterations` must be")
    );
    EXPECT_THAT(error_of_letters({.dtype = "flaot"}), StartsWith("-d flaot: unknown value `flaot`"));
    EXPECT_THAT(error_of_letters({.op = "mulsum"}), StartsWith("-o mulsum: unknown value `mulsum`"));
    EXPECT_THAT(error_of_letters({.check = "0"}), StartsWith("-c 0: every timed result is verified"));
    EXPECT_THAT(error_of_letters({.check = "no"}), StartsWith("-c no: must be a whole number"));
    EXPECT_THAT(error_of_letters({.graph = "-1"}), StartsWith("-G -1: must be a whole number"));
    EXPECT_THAT(error_of_letters({.graph = "yes"}), StartsWith("-G yes: must be a whole number"));
    EXPECT_THAT(
        error_of_letters({.algorithms = "rign-ll"}), StartsWith("-a rign-ll: unknown algorithm `rign-ll`")
    );
    EXPECT_THAT(error_of_letters({}, {"measure.x=1"}), StartsWith("--set measure.x=1: unknown key `x`"));
}

}  // namespace
}  // namespace ringscope
