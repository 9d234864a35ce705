// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "trace/marks.hpp"

namespace ringscope::trace {
namespace {

TEST(Marks, AreWordsThatStandOnce) {
    CaseRow row;
    EXPECT_FALSE(has_mark(row, "suspect"));
    add_mark(row, "not-warm");
    add_mark(row, "suspect");
    add_mark(row, "not-warm");
    EXPECT_EQ(row.marks, "not-warm suspect");
    EXPECT_TRUE(has_mark(row, "suspect"));
    EXPECT_TRUE(has_mark(row, "not-warm"));
    EXPECT_FALSE(has_mark(row, "warm")) << "a part of a word is no mark";
}

}  // namespace
}  // namespace ringscope::trace
