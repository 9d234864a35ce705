// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "tests/config/support.hpp"
#include "tests/effort.hpp"

namespace ringscope {
namespace {

const std::string good = R"(# a comment
version: 1
name: quickstart
launch: {np: [4], env: [{A: "x"}, {A: 'y'}], mca: {btl: self}, timeout: 10m}
sweep:
  algorithms: [ring-ll, ring-simple, {id: ring-simple, params: {channels: 2, slot_bytes: 4KiB}}, mpi,
               {id: nccl, params: {algo: ring, max_ctas: 4}}]
  sizes: {from: 1KiB, to: 4MiB, factor: 4}
  dtypes:
    - float32
    - "bfloat16"
measure: {warmup: 5, iterations: 20, mode: [isolated], start: auto, cold_start: true}
timeout: {wait: 10s, case: 60s}
output: data/{name}.h5
)";

/// What mutations insert: every character that YAML gives a meaning, and pieces that change types.
const std::vector<std::string> pieces{
    "[",    "]",  "{", "}",    ":",  ": ", "- ",   "? ",   "&a ",  "*a",       "!t ",          "|",
    ">",    "\"", "'", "#",    " #", "\n", "\n  ", "\t",   ",",    "%",        "---\n",        "...\n",
    "<<: ", "\\", "~", "1e99", "-1", "0",  "null", "true", "\xff", "\xc3\xa4", "\xef\xbb\xbf", "\r\n",
    "@",    "`"};

std::string mutated(std::string text, std::mt19937& random) {
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>{0, n - 1}(random);
    };
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
        const std::size_t at = below(text.size());
        switch (below(4)) {
            case 0:
                text.erase(at, 1 + below(12));
                break;
            case 1:
                text.insert(at, pieces[below(pieces.size())]);
                break;
            case 2:
                text[at] = static_cast<char>(below(256));
                break;
            default:
                text.insert(at, text.substr(below(text.size()), below(40)));
                break;
        }
    }
    return text;
}

TEST(Mutation, of_a_good_file_is_read_or_refused_with_its_place) {
    ASSERT_EQ(error_of(good), "no error");
    std::mt19937 random{20240229};
    constexpr int mutations = sanitized ? 100 : 4'000;
    int refused = 0;
    for (int i = 0; i < mutations; ++i) {
        const std::string text = mutated(good, random);
        const std::string error = error_of(text);
        if (error == "no error") {
            const Experiment first = parse(text);
            EXPECT_EQ(parse_resolved(first.resolved_text, text, vocabulary()).sha256, first.sha256) << text;
        } else {
            ++refused;
            EXPECT_TRUE(error.starts_with("x.yaml:")) << error << "\n" << text;
        }
    }
    EXPECT_GT(refused, mutations / 4);
    EXPECT_LT(refused, mutations);
}

}  // namespace
}  // namespace ringscope
