// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

namespace ringscope::nccl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t second_ns = 1'000'000'000;

/// What a group does, word by word, and on which threads.
struct Diary {
    std::mutex mutex;
    std::vector<std::string> words;
    std::set<std::thread::id> threads;

    void add(const std::string& word) {
        const std::lock_guard lock{mutex};
        words.push_back(word);
        threads.insert(std::this_thread::get_id());
    }

    Group::Calls calls() {
        return {
            .start = [this] { add("start"); },
            .end = [this] { add("end"); },
            .use = [this](int device) { add("device " + std::to_string(device)); }};
    }
};

TEST(Group, OneThreadMakesAllCallsWithTheDeviceOfEachCurrent) {
    Diary diary;
    bootstrap::run_as_threads(3, [&](bootstrap::Bootstrap& ranks) {
        const auto group = meet(ranks, {second_ns, second_ns}, diary.calls());
        const int rank = ranks.rank();
        group->call(rank, 10 + rank, 0, [&, rank] { diary.add("call " + std::to_string(rank)); });
    });
    EXPECT_THAT(
        diary.words,
        ElementsAre(
            "start", "device 10", "call 0", "device 11", "call 1", "device 12", "call 2", "end", "device 10"
        )
    );
    EXPECT_EQ(diary.threads.size(), 1u);
}

TEST(Group, RoundsDoNotMix) {
    Diary diary;
    std::vector<int> sums(100, 0);
    bootstrap::run_as_threads(4, [&](bootstrap::Bootstrap& ranks) {
        const auto group = meet(ranks, {10 * second_ns, 10 * second_ns}, diary.calls());
        for (std::size_t round = 0; round < sums.size(); ++round) {
            group->call(ranks.rank(), 0, 0, [&, round] { sums[round] += 1 + ranks.rank(); });
            EXPECT_EQ(sums[round], 1 + 2 + 3 + 4);  // all calls are made when mine returns
        }
    });
}

TEST(Group, AFailedCallIsEverybodysAndTheGroupIsEnded) {
    Diary diary;
    bootstrap::run_as_threads(3, [&](bootstrap::Bootstrap& ranks) {
        const auto group = meet(ranks, {second_ns, second_ns}, diary.calls());
        const auto fail = [&] {
            if (ranks.rank() == 1) throw Error{ExitCode::unusable_engine, "the second one is broken"};
        };
        try {
            group->call(ranks.rank(), 0, second_ns, fail);
            ADD_FAILURE() << "no error at rank " << ranks.rank();
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::unusable_engine);
            EXPECT_STREQ(e.what(), "the second one is broken");
        }
        EXPECT_NO_THROW(group->call(ranks.rank(), 0, second_ns, [] {}));
    });
    EXPECT_EQ(std::ranges::count(diary.words, "start"), 2);
    EXPECT_EQ(std::ranges::count(diary.words, "end"), 2);
}

TEST(Group, ARankThatDoesNotComeEndsTheWaitOfAll) {
    Diary diary;
    bootstrap::run_as_threads(3, [&](bootstrap::Bootstrap& ranks) {
        const auto group = meet(ranks, {second_ns / 20, 10 * second_ns}, diary.calls());
        EXPECT_FALSE(group->is_broken());
        if (ranks.rank() == 2) return;
        try {
            group->call(ranks.rank(), 0, 0, [] {});
            ADD_FAILURE() << "no error at rank " << ranks.rank();
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::timeout);
            EXPECT_THAT(e.what(), HasSubstr("did not come to the group"));
        }
        EXPECT_TRUE(group->is_broken());
    });
    EXPECT_THAT(diary.words, ElementsAre());
}

/// The first calls connect GPUs, which takes longer than a rank may be late.
TEST(Group, CallsMayTakeLongerThanRanksMayBeLate) {
    Diary diary;
    bootstrap::run_as_threads(2, [&](bootstrap::Bootstrap& ranks) {
        const auto group = meet(ranks, {second_ns / 20, 10 * second_ns}, diary.calls());
        group->call(ranks.rank(), 0, 0, [] { std::this_thread::sleep_for(std::chrono::milliseconds{100}); });
        EXPECT_FALSE(group->is_broken());
    });
}

TEST(Group, CallsThatDoNotReturnAreLeft) {
    Diary diary;
    bootstrap::run_as_threads(2, [&](bootstrap::Bootstrap& ranks) {
        const auto group = meet(ranks, {second_ns, second_ns}, diary.calls());
        const auto hang = [] { std::this_thread::sleep_for(std::chrono::milliseconds{200}); };
        try {
            group->call(ranks.rank(), 0, second_ns / 50, hang);
            ADD_FAILURE() << "no error at rank " << ranks.rank();
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::timeout);
        }
    });
    // What hangs goes on in the background, and the diary must live as long.
    std::this_thread::sleep_for(std::chrono::milliseconds{600});
}

}  // namespace
}  // namespace ringscope::nccl
