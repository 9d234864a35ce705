// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>

#include "tests/config/support.hpp"

namespace ringscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path folder{RINGSCOPE_CONFIGS};

Experiment shipped(const std::string& name) {
    const std::string path = folder / (name + ".yaml");
    Vocabulary words = vocabulary();
    for (const char* more :
         {"ipc-pcie", "ipc-pcie-naive", "tree-ll", "tree-simple", "parameter-server", "halving-doubling",
          "one-shot", "two-shot", "ring-ll128"})
        words.algorithms.emplace_back(more);
    words.words["two-shot"].protocols = {"ll", "ll128", "simple"};
    return parse_experiment(read_experiment_file(path), path, words);
}

TEST(Shipped, every_file_is_valid_and_says_how_to_run_it) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        if (entry.path().extension() != ".yaml") continue;
        ++files;
        const std::string name = entry.path().stem();
        const Experiment e = shipped(name);
        EXPECT_EQ(e.name, name);
        EXPECT_EQ(e.output, "data/" + name + ".h5");
        EXPECT_FALSE(expand(e).empty());
        EXPECT_THAT(
            e.original_text, StartsWith("# yaml-language-server: $schema=schema/experiment.schema.json\n"
                                        "# $schema: schema/experiment.schema.json\n")
        );
        EXPECT_THAT(e.original_text, HasSubstr("ringscope run configs/" + name + ".yaml"));
    }
    EXPECT_GE(files, 5);
}

TEST(Shipped, quickstart_sweeps_seven_sizes_of_three_algorithms) {
    const Experiment e = shipped("quickstart");
    EXPECT_THAT(e.sizes, ElementsAre(1024, 4096, 16384, 65536, 262144, 1048576, 4194304));
    EXPECT_EQ(expand(e).size(), 21U);
    EXPECT_EQ(e.measure.iterations, 20);
}

TEST(Shipped, sanitize_has_the_awkward_counts) {
    std::vector<std::int64_t> counts;
    for (const std::int64_t bytes : shipped("sanitize").sizes) counts.push_back(bytes / 4);
    EXPECT_THAT(counts, ElementsAre(0, 1, 2, 3, 4, 5, 127, 1023, 65537));
}

TEST(Shipped, nccl_tests_doubles_from_8_bytes_to_128_mebibytes) {
    const Experiment e = shipped("nccl-tests");
    EXPECT_EQ(e.sizes.size(), 25U);  // 2^3 .. 2^27
    EXPECT_EQ(e.sizes.back(), 1 << 27);
    EXPECT_THAT(e.measure.modes, ElementsAre(Mode::back_to_back));
    EXPECT_THAT(e.in_place, ElementsAre(false, true));
}

TEST(Shipped, first_light_compares_like_with_like_on_two_gpus) {
    const Experiment e = shipped("first-light");
    EXPECT_THAT(e.sizes, ElementsAre(256, 4096, 65536, 1 << 20, 16 << 20, 64 << 20));
    EXPECT_THAT(e.measure.modes, ElementsAre(Mode::isolated, Mode::graph));
    EXPECT_THAT(e.engines, ElementsAre("cuda-p2p"));
    EXPECT_THAT(
        e.algorithms,
        ElementsAre(
            AlgorithmChoice{"ring-ll", {}}, AlgorithmChoice{"ring-simple", {}}, AlgorithmChoice{"nccl", {}},
            AlgorithmChoice{"nccl", {}, {{"algo", "ring"}, {"proto", "ll"}}},
            AlgorithmChoice{"nccl", {}, {{"algo", "ring"}, {"proto", "simple"}}}
        )
    );
    EXPECT_EQ(expand(e).size(), 60U);  // 5 algorithms, 2 modes, 6 sizes
}

TEST(Shipped, article_a_has_both_ways_and_nccl_with_and_without_peer_access) {
    const Experiment e = shipped("article-a");
    EXPECT_THAT(e.engines, ElementsAre("auto", "cuda-staged"));
    EXPECT_EQ(e.measure.iterations, 10);
    ASSERT_EQ(e.launch.env.size(), 2U);
    EXPECT_THAT(
        e.launch.env[1].values,
        ElementsAre(std::pair<const std::string, std::string>{"NCCL_P2P_DISABLE", "1"})
    );
    EXPECT_EQ(expand(e).size(), 42U);  // three algorithms by two engines and nccl, 6 sizes
}

TEST(Shipped, traffic_traces_one_operation_of_each_on_several_numbers_of_ranks) {
    const Experiment e = shipped("traffic");
    EXPECT_THAT(e.launch.np, ElementsAre(2, 4, 8));
    EXPECT_TRUE(e.trace.enabled);
    EXPECT_EQ(expand(e).size(), 4U);
}

/// The names of arms.
std::vector<std::string> names_of(const std::vector<Variables>& arms) {
    std::vector<std::string> names;
    for (const Variables& arm : arms) names.push_back(arm.name);
    return names;
}

/// Eleven sizes from 256 bytes to 1 GiB, untraced, six launches: what the three against NCCL have in common.
void expect_against_nccl(const Experiment& e) {
    EXPECT_EQ(e.sizes.size(), 11U);
    EXPECT_EQ(e.sizes.front(), 256);
    EXPECT_EQ(e.sizes.back(), 1 << 30);
    EXPECT_THAT(e.measure.modes, ElementsAre(Mode::isolated, Mode::graph));
    EXPECT_FALSE(e.trace.enabled);
    EXPECT_EQ(e.launch.launches, 6);
}

TEST(Shipped, versus_nccl_has_a_like_of_each_ring_and_tree) {
    const Experiment e = shipped("versus-nccl");
    expect_against_nccl(e);
    EXPECT_THAT(e.launch.np, ElementsAre(2));
    const auto has = [&](const AlgorithmChoice& choice) { return std::ranges::count(e.algorithms, choice); };
    for (const char* way : {"ring", "tree"}) {
        for (const char* protocol : {"ll", "ll128", "simple"}) {
            const auto ours = has({std::string{way} + "-" + protocol, {}});
            EXPECT_EQ(ours, has({"nccl", {}, {{"algo", way}, {"proto", protocol}}})) << way << protocol;
        }
    }
    EXPECT_EQ(has({"nccl", {}}), 1);
    EXPECT_EQ(has({"nccl", {}, {{"window", "symmetric"}}}), 1);
    for (const char* direct : {"results", "all"}) {
        EXPECT_EQ(has({"ring-simple", {}, {{"direct", direct}}}), 1);
        EXPECT_EQ(has({"two-shot", {}, {{"direct", direct}, {"protocol", "simple"}}}), 1);
    }
    EXPECT_EQ(expand(e).size(), 418U);  // 19 algorithms, 2 modes, 11 sizes
}

TEST(Shipped, versus_nccl_staged_leaves_peer_access_unused_on_both_sides) {
    const Experiment e = shipped("versus-nccl-staged");
    expect_against_nccl(e);
    EXPECT_THAT(e.engines, ElementsAre("cuda-staged"));
    ASSERT_EQ(e.launch.env.size(), 1U);
    EXPECT_THAT(
        e.launch.env[0].values,
        ElementsAre(std::pair<const std::string, std::string>{"NCCL_P2P_DISABLE", "1"})
    );
}

TEST(Shipped, versus_nccl_n_is_of_four_and_eight_ranks) {
    const Experiment e = shipped("versus-nccl-n");
    expect_against_nccl(e);
    EXPECT_THAT(e.launch.np, ElementsAre(4, 8));
}

TEST(Shipped, versus_mpi_has_every_setting_of_open_mpi_as_an_arm) {
    const Experiment e = shipped("versus-mpi");
    EXPECT_THAT(e.launch.bind_to, ElementsAre("core"));
    EXPECT_THAT(
        names_of(e.launch.mca),
        ElementsAre("as-it-comes", "no-cma", "sm", "tuned-3", "tuned-4", "tuned-5", "tuned-6")
    );
    EXPECT_EQ(e.sizes.front(), 8);
    EXPECT_EQ(e.sizes.back(), 64 << 20);
    EXPECT_FALSE(e.trace.enabled);
    EXPECT_EQ(e.launch.launches, 6);
    EXPECT_EQ(expand(e).size(), 66U);  // 6 algorithms, 11 sizes
}

TEST(Shipped, gradients_add_up_to_resnet_50) {
    const auto sizes = shipped("gradients").sizes;
    const auto buckets = std::span{sizes}.last(5);
    EXPECT_EQ(std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0}), 25'557'032 * 4);
}

}  // namespace
}  // namespace ringscope
