// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "baseline/nccl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ringscope;
using baseline::Nccl;

namespace {

/// 1/2 and 1/8 are floats, 1/3 is not; integers are summed and then divided.
TEST(Nccl, RoundsTheFactorOfAveragesUnlessNIsAPowerOfTwo) {
    EXPECT_FALSE(Nccl::rounds_factor(DataType::float32, ReduceOp::avg, 2));
    EXPECT_FALSE(Nccl::rounds_factor(DataType::bfloat16, ReduceOp::avg, 8));
    EXPECT_TRUE(Nccl::rounds_factor(DataType::float16, ReduceOp::avg, 3));
    EXPECT_TRUE(Nccl::rounds_factor(DataType::float8_e4m3, ReduceOp::avg, 6));
    EXPECT_FALSE(Nccl::rounds_factor(DataType::int32, ReduceOp::avg, 3));
    EXPECT_FALSE(Nccl::rounds_factor(DataType::float32, ReduceOp::sum, 3));
}

std::string reason_for(const AlgorithmChoice& choice, std::int64_t local_ranks = 1) {
    return Nccl::unsupported(choice, DataType::float32, ReduceOp::sum, 1024, local_ranks);
}

#if BUILT_WITH_NCCL

AlgorithmChoice with_word(const std::string& name, const std::string& word) {
    return {.id = Nccl::id, .params = {}, .words = {{name, word}}};
}

TEST(NcclInCudaBuild, unsupported_words) {
    EXPECT_EQ(reason_for(with_word("algo", "star")), "nccl has no algo star");
    EXPECT_EQ(reason_for(with_word("proto", "LL")), "nccl has no proto LL");
    EXPECT_EQ(reason_for(with_word("window", "round")), "nccl has no window round");
}

TEST(NcclInCudaBuild, unsupported_range_of_ctas) {
    const AlgorithmChoice upside_down{
        .id = Nccl::id, .params = {{"min_ctas", 8}, {"max_ctas", 4}}, .words = {}};
    EXPECT_EQ(reason_for(upside_down), "min_ctas is more than max_ctas");
}

TEST(NcclInCudaBuild, unsupported_where_gpus_are_fewer_than_ranks) {
    // No machine has that many, and one without any has another reason.
    EXPECT_NE(reason_for({.id = Nccl::id, .params = {}, .words = {}}, 1'000'000), "");
}

TEST(NcclInCudaBuild, words_of_nccl_are_not_the_reason) {
    for (const auto& [name, word] :
         std::map<std::string, std::string>{{"algo", "ring"}, {"proto", "ll128"}, {"window", "symmetric"}}) {
        EXPECT_THAT(reason_for(with_word(name, word)), testing::Not(testing::HasSubstr(word)));
    }
}

#else

TEST(NcclAbsent, says_so_and_refuses) {
    EXPECT_THAT(
        reason_for({.id = Nccl::id, .params = {}, .words = {}}), testing::StartsWith("this build has no ")
    );
    bootstrap::run_as_threads(1, [](bootstrap::Bootstrap& bootstrap) {
        try {
            const baseline::NcclBaseline nccl{bootstrap, 1'000'000'000};
            ADD_FAILURE() << "a baseline of nothing";
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::unusable_engine);
        }
    });
}

#endif

}  // namespace
