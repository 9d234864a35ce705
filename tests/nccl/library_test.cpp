// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "nccl/nccl.hpp"

using namespace ringscope;

namespace {

/// Found by the same loader, but not through the code that is tested.
bool installed() {
    return dlopen("libnccl.so.2", RTLD_LAZY) != nullptr;
}

void expect_available() {
    std::string reason;
    EXPECT_TRUE(nccl::available(reason)) << reason;
    EXPECT_EQ(reason, "");
    EXPECT_THAT(nccl::library_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

void expect_the_reason() {
    std::string reason;
    EXPECT_FALSE(nccl::available(reason));
    EXPECT_THAT(reason, testing::HasSubstr("NCCL is not on this machine (libnccl.so.2"));
    try {
        static_cast<void>(nccl::library_version());
        FAIL() << "a version of no library";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::unusable_engine);
    }
}

/// Each machine shows one of the two.
TEST(Library, is_available_where_it_is_installed_and_else_says_why_not) {
    if (installed()) {
        expect_available();
    } else {
        expect_the_reason();
    }
}

TEST(Library, eight_bit_floats_need_its_version_and_a_gpu_for_them) {
    using nccl::missing_type;
    EXPECT_EQ(missing_type(DataType::float8_e4m3, 22403, 90), "");
    EXPECT_EQ(missing_type(DataType::float8_e5m2, 22809, 120), "");
    EXPECT_EQ(
        missing_type(DataType::float8_e4m3, 22304, 90),
        "float8_e4m3 needs NCCL 2.24 or newer, and this is 2.23.4"
    );
    EXPECT_EQ(
        missing_type(DataType::float8_e5m2, 22809, 89),
        "NCCL reduces float8_e5m2 on GPUs of compute capability 9.0 and newer, and this one has 8.9"
    );
    EXPECT_EQ(missing_type(DataType::bfloat16, 21900, 70), "");
}

}  // namespace
