// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "nccl/nccl.hpp"

using namespace ringscope::nccl;

namespace {

std::string value_of(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "(unset)" : value;
}

TEST(ScopedEnvironment, holds_and_is_restored) {
    setenv("NCCL_ALGO", "tree", 1);
    unsetenv("NCCL_PROTO");
    {
        const ScopedEnvironment environment{{{"NCCL_ALGO", "ring"}, {"NCCL_PROTO", "ll"}}};
        EXPECT_EQ(value_of("NCCL_ALGO"), "ring");
        EXPECT_EQ(value_of("NCCL_PROTO"), "ll");
    }
    EXPECT_EQ(value_of("NCCL_ALGO"), "tree");
    EXPECT_EQ(value_of("NCCL_PROTO"), "(unset)");
}

TEST(ScopedEnvironment, an_empty_value_is_not_an_absent_one) {
    setenv("NCCL_ALGO", "", 1);
    { const ScopedEnvironment environment{{{"NCCL_ALGO", "ring"}}}; }
    EXPECT_EQ(value_of("NCCL_ALGO"), "");
}

TEST(ScopedEnvironment, is_restored_after_a_failure) {
    setenv("NCCL_ALGO", "tree", 1);
    try {
        const ScopedEnvironment environment{{{"NCCL_ALGO", "ring"}}};
        throw std::runtime_error{"no"};
    } catch (const std::runtime_error&) {
        EXPECT_EQ(value_of("NCCL_ALGO"), "tree");
    }
}

// NCCL's documentation: NCCL_ALGO and NCCL_PROTO, neither depending on case.
TEST(EnvironmentFor, options_that_are_words) {
    EXPECT_EQ(environment_for({}), Variables{});
    EXPECT_EQ(environment_for({.algo = "", .proto = "", .min_ctas = 1, .max_ctas = 4}), Variables{});
    const Variables both{{"NCCL_ALGO", "tree"}, {"NCCL_PROTO", "ll128"}};
    EXPECT_EQ(environment_for({.algo = "tree", .proto = "ll128"}), both);
}

}  // namespace
