// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/cpu_list.hpp"

#include <sched.h>

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace ringscope::environment {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CpuList, KernelForms) {
    EXPECT_THAT(parse_cpu_list("0"), ElementsAre(0));
    EXPECT_THAT(parse_cpu_list("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
    EXPECT_THAT(parse_cpu_list("8,0-2,1-3"), ElementsAre(0, 1, 2, 3, 8));
    EXPECT_THAT(parse_cpu_list(""), IsEmpty()) << "a memory-only NUMA node";
}

TEST(CpuList, OtherTextIsRefused) {
    for (const char* text : {"a", "3-1", "-1", "1-", "0,,2", "0 1", "0-99999999", "999999999999"}) {
        EXPECT_THROW(static_cast<void>(parse_cpu_list(text)), Error) << text;
    }
}

TEST(CpuList, FormatIsTheInverse) {
    for (const char* text : {"", "0", "0-1", "0-3,8", "1,3,5", "1022-1026"}) {
        EXPECT_EQ(format_cpu_list(parse_cpu_list(text)), text);
    }
}

TEST(AllowedCpus, FollowTheBinding) {
    const int first = allowed_cpu_list().front();
    std::vector<int> seen;
    int count = 0;
    std::thread bound{[&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        seen = allowed_cpu_list();
        count = allowed_cpus();
    }};
    bound.join();
    EXPECT_THAT(seen, ElementsAre(first));
    EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace ringscope::environment
