// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/choice.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace ringscope::nccl;

namespace {

// Version 4 of NCCL's profiler interface (a table of five functions behind a name), as NCCL calls it.
struct Table {
    const char* name;
    int (*init)(void**, int*, const char*, std::uint64_t, int, int, int, void*);
    int (*start)(void*, void**, const void*);
    int (*stop)(void*);
    int (*record)(void*, int, void*);
    int (*finalize)(void*);
};

/// An event of a collective, byte by byte: type at 0, collective at 24, the buffers at 40 and 48, channels at
/// 80, algorithm and protocol at 88 and 96.
struct EventBytes {
    alignas(8) unsigned char bytes[104] = {};

    template <class T>
    void put(std::size_t at, T value) {
        *reinterpret_cast<T*>(bytes + at) = value;
    }
};

EventBytes all_reduce(std::byte* output, const char* algorithm, const char* protocol, std::uint8_t channels) {
    EventBytes event;
    event.put<std::uint8_t>(0, 2);
    event.put<const char*>(32, "AllReduce");
    event.put<void*>(48, output);
    event.put<std::uint8_t>(80, channels);
    event.put<const char*>(88, algorithm);
    event.put<const char*>(96, protocol);
    return event;
}

class PlaysNccl : public testing::Test {
 protected:
    PlaysNccl() : table_{static_cast<const Table*>(dlsym(dlopen(nullptr, RTLD_NOW), "ncclProfiler_v4"))} {}

    void SetUp() override {
        ASSERT_NE(table_, nullptr) << "NCCL would not find it in the program";
        ASSERT_EQ(table_->init(&context_, &wanted_, "", 1, 1, 2, 0, nullptr), 0);
        ASSERT_NE(context_, nullptr);
    }
    void tell(const EventBytes& event) {
        void* handle = this;
        EXPECT_EQ(table_->start(context_, &handle, event.bytes), 0);
        EXPECT_EQ(handle, nullptr);
    }

    // NCCL's variable lives as long as the process, in which it is one.
    static inline int wanted_ = -1;
    const Table* table_;
    void* context_ = nullptr;
    std::byte buffer_{}, other_{};
};

TEST_F(PlaysNccl, wants_no_events_but_while_watched) {
    EXPECT_EQ(wanted_, 0);
    {
        const ChoiceWatch watch;
        EXPECT_EQ(wanted_, 2);
        { const ChoiceWatch another_rank; }
        EXPECT_EQ(wanted_, 2);
    }
    EXPECT_EQ(wanted_, 0);
}

TEST_F(PlaysNccl, choice_of_each_output) {
    const ChoiceWatch watch;
    tell(all_reduce(&buffer_, "RING", "LL", 4));
    tell(all_reduce(&other_, "NVLS_TREE", "SIMPLE", 1));
    EXPECT_EQ(watch.choice_for(&buffer_), "ring ll 4 channels");
    EXPECT_EQ(watch.choice_for(&other_), "nvls_tree simple 1 channel");
}

TEST_F(PlaysNccl, the_latest_operation_counts) {
    const ChoiceWatch watch;
    tell(all_reduce(&buffer_, "RING", "LL", 4));
    tell(all_reduce(&buffer_, "TREE", "LL128", 8));
    EXPECT_EQ(watch.choice_for(&buffer_), "tree ll128 8 channels");
}

TEST_F(PlaysNccl, nothing_is_remembered_or_guessed) {
    {
        const ChoiceWatch watch;
        tell(all_reduce(&buffer_, "RING", "LL", 4));
    }
    const ChoiceWatch watch;
    EXPECT_EQ(watch.choice_for(&buffer_), "");
}

TEST_F(PlaysNccl, other_events_are_let_pass) {
    const ChoiceWatch watch;
    EventBytes group;
    group.put<std::uint8_t>(0, 1);
    tell(group);
    EXPECT_EQ(watch.choice_for(nullptr), "");
}

TEST(InWords, what_is_missing_is_not_made_up) {
    EXPECT_EQ(in_words("RING", "LL128", 16), "ring ll128 16 channels");
    EXPECT_EQ(in_words("RING", "LL", 0), "");
    EXPECT_EQ(in_words(nullptr, "LL", 2), "");
    EXPECT_EQ(in_words("AGxLL_R", "", 2), "");
}

TEST(ProfilerEnvironment, leaves_a_profiler_of_the_user_alone) {
    unsetenv("NCCL_PROFILER_PLUGIN");
    const Variables here{{"NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN"}};
    EXPECT_EQ(profiler_environment(), here);
    setenv("NCCL_PROFILER_PLUGIN", "theirs", 1);
    EXPECT_EQ(profiler_environment(), Variables{});
    unsetenv("NCCL_PROFILER_PLUGIN");
}

}  // namespace
