// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ringscope {
namespace {

/// The order that scripts are promised.
constexpr std::array worst_first{8, 3, 4, 7, 6, 5, 2, 77, 1, 0};

TEST(Worst, AnyPair_IsTheEarlierOfTheOrder) {
    for (std::size_t i = 0; i < worst_first.size(); ++i) {
        for (std::size_t j = i; j < worst_first.size(); ++j) {
            const auto a = static_cast<ExitCode>(worst_first[i]), b = static_cast<ExitCode>(worst_first[j]);
            EXPECT_EQ(static_cast<int>(worst(a, b)), worst_first[i]);
            EXPECT_EQ(static_cast<int>(worst(b, a)), worst_first[i]);
        }
    }
}

TEST(Error, KeepsCodeAndText) {
    const Error error{ExitCode::output, "the disk is full"};
    EXPECT_EQ(error.code(), ExitCode::output);
    EXPECT_STREQ(error.what(), "the disk is full");
}

}  // namespace
}  // namespace ringscope
