// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/abi/layout.h"
#include "tests/abi/sdk.hpp"

namespace {

using testing::ElementsAreArray;

static_assert(__cplusplus == 202002L, "compiled as C++20");

constexpr size_t layout_cxx20[LAYOUT_ENTRIES] = RINGSCOPE_LAYOUT;

TEST(Abi, C11_Cxx17_AndCxx20SeeTheSameLayout) {
    EXPECT_THAT(layout_c11, ElementsAreArray(layout_cxx20));
    EXPECT_THAT(layout_cxx17, ElementsAreArray(layout_cxx20));
}

#ifdef RINGSCOPE_WITH_CUDA
extern "C" const size_t layout_cuda[LAYOUT_ENTRIES];
TEST(Abi, Cuda_SeesTheSameLayout) {
    EXPECT_THAT(layout_cuda, ElementsAreArray(layout_cxx20));
}
#endif

/// Version 1 on 64-bit machines, worked out by hand from the order of the members: a changed number is a new
/// version.
TEST(Abi, Version1_IsFrozen) {
    ASSERT_EQ(RINGSCOPE_ABI_VERSION, 1u);
    EXPECT_THAT(layout_cxx20, ElementsAreArray({48, 24, 64, 32, 56, 32, 32, 120, 40, 40, 32}));
}

/// What was added to structs later begins where the first version ended.
TEST(Abi, Additions_BeginBehindTheFirstVersion) {
    EXPECT_EQ(offsetof(ringscope_place, options), 40u);
    EXPECT_EQ(offsetof(ringscope_tuning, protocol), 16u);
    EXPECT_EQ(offsetof(ringscope_algorithm, option_count), 72u);
}

/// Values that files hold.
TEST(Abi, StoredNumbers_AreFrozen) {
    EXPECT_THAT(
        (std::vector<int>{
            RINGSCOPE_FLOAT32, RINGSCOPE_FLOAT64, RINGSCOPE_FLOAT16, RINGSCOPE_BFLOAT16, RINGSCOPE_INT32,
            RINGSCOPE_INT64, RINGSCOPE_UINT8, RINGSCOPE_INT8, RINGSCOPE_UINT32, RINGSCOPE_UINT64,
            RINGSCOPE_FLOAT8_E4M3, RINGSCOPE_FLOAT8_E5M2}),
        testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
    );
    EXPECT_THAT(
        (std::vector<int>{RINGSCOPE_SUM, RINGSCOPE_PROD, RINGSCOPE_MIN, RINGSCOPE_MAX, RINGSCOPE_AVG}),
        testing::ElementsAre(0, 1, 2, 3, 4)
    );
    EXPECT_THAT(
        (std::vector<int>{RINGSCOPE_LL, RINGSCOPE_LL128, RINGSCOPE_SIMPLE}), testing::ElementsAre(0, 1, 2)
    );
}

/// Keeps what a play gives, and stops it where told.
struct Listener {
    std::vector<ringscope_op> ops;
    std::string failure;
    std::size_t stop_at = 100;

    static std::int32_t on_op(void* self, const ringscope_op* op) {
        auto& listener = *static_cast<Listener*>(self);
        if (listener.ops.size() == listener.stop_at) return 7;
        listener.ops.push_back(*op);
        return RINGSCOPE_OK;
    }
    static void on_fail(void* self, const char* text) { static_cast<Listener*>(self)->failure = text; }
    [[nodiscard]] ringscope_sink sink() { return {sizeof(ringscope_sink), this, on_op, on_fail}; }
};

constexpr ringscope_place place{sizeof(ringscope_place), 2, 0, 1, 0, 1, 1, nullptr};

TEST(Sdk, EveryShorthand_GivesOneOpWithItsSize) {
    Listener listener;
    const ringscope_sink sink = listener.sink();
    EXPECT_EQ(ringscope::sdk_check::checked.play(&place, &sink), RINGSCOPE_OK);
    ASSERT_EQ(listener.ops.size(), 6u);
    for (const ringscope_op& op : listener.ops) EXPECT_EQ(op.size, sizeof(ringscope_op));
    EXPECT_EQ(listener.ops[0].local, RINGSCOPE_LOCAL_INPUT);
    EXPECT_EQ(listener.ops[4].finish, 1);
    EXPECT_EQ(listener.ops[4].local_at, 1);
}

TEST(Sdk, SinkThatStops_EndsThePlayWithItsStatus) {
    Listener listener;
    listener.stop_at = 2;
    const ringscope_sink sink = listener.sink();
    EXPECT_EQ(ringscope::sdk_check::checked.play(&place, &sink), 7);
    EXPECT_EQ(listener.ops.size(), 2u);
    EXPECT_EQ(listener.failure, "");
}

void throws_text(ringscope::Player&) {
    throw std::runtime_error{"a reason"};
}
void throws_number(ringscope::Player&) {
    throw 3;
}

TEST(Sdk, ScheduleThatThrows_HandsItsTextOver) {
    Listener listener;
    const ringscope_sink sink = listener.sink();
    EXPECT_EQ(ringscope::play_schedule<throws_text>(&place, &sink), RINGSCOPE_FAILED);
    EXPECT_EQ(listener.failure, "a reason");
    EXPECT_EQ(ringscope::play_schedule<throws_number>(&place, &sink), RINGSCOPE_FAILED);
    EXPECT_NE(listener.failure, "a reason");
}

}  // namespace
