// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "tests/effort.hpp"
#include "tests/engine/sums.hpp"

/// Flags of few bits wrap after few messages, so that what takes days with 32 bits can be seen in a second.
namespace ringscope::engine::host {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;
using testing::IsEmpty;

constexpr Layout layout{.slots = 3, .slot_bytes = 256, .channels = 1};

/// Elements of the operations: from one line to full slots.
constexpr std::array<std::int64_t, 5> counts{64, 4, 17, 64, 8};

std::vector<schedule::Plan> plans_of(int ranks) {
    std::vector<schedule::Plan> plans;
    for (const std::int64_t count : counts) plans.push_back(plan_of("ring-ll", ranks, 4 * count, layout));
    return plans;
}

template <class Link>
std::vector<std::string> play_series(int ranks, std::int64_t operations, std::uint64_t history = 0) {
    const std::vector<schedule::Plan> plans = plans_of(ranks);
    Control control{};
    Faults faults;
    run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        Sums<Link> sums{bootstrap, control, plans, 20'000'000'000};
        if (history > 0) sums.pretend_history(history);
        bootstrap.barrier();
        NoProbe none;
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < operations; ++i) {
            const auto which = static_cast<std::size_t>(i * 7 / 3) % counts.size();
            wrong += sums.operate(which, counts[which], i, none) ? 0 : 1;
        }
        if (wrong > 0)
            faults.add(std::to_string(wrong) + " wrong on rank " + std::to_string(bootstrap.rank()));
        bootstrap.barrier();
    });
    return faults.texts();
}

constexpr std::int64_t many = sanitized ? 4'000 : 100'000;

TEST(LowLatency, ThreeBitFlags_PassAHundredThousandOperations) {
    EXPECT_THAT(play_series<BasicLowLatency<3>>(2, many), IsEmpty());
}

TEST(LowLatency, ThreeBitFlags_MoreRanks) {
    EXPECT_THAT(play_series<BasicLowLatency<3>>(3, many / 20), IsEmpty());
}

TEST(LowLatency, ThirtyTwoBitFlags_WrapAndHalfWay) {
    constexpr std::uint64_t half = std::uint64_t{1} << 31, whole = std::uint64_t{1} << 32;
    for (const int ranks : {2, 3}) {
        for (const std::uint64_t history : {half - 8, whole - 8, 2 * whole - 8}) {
            EXPECT_THAT(play_series<LowLatency>(ranks, 64, history), IsEmpty())
                << "N=" << ranks << " from " << history;
        }
    }
}

/// N = 2: operation k sends messages 2k and 2k + 1. Message 7 has flag 0 and goes to slot 1, as messages 1
/// and 4 did. When those were short, the end of the slot is as it was in the beginning, zero, which reads as
/// flag 0: a reader that gets there before the sender takes it for data. The last messages of the half
/// before, 5 to 7, clean the slots.
template <class Link>
bool stale_words_are_taken() {
    std::vector<schedule::Plan> plans;
    constexpr std::array<std::int64_t, 4> elements{8, 8, 8, 64};
    for (const std::int64_t count : elements) plans.push_back(plan_of("ring-ll", 2, 4 * count, layout));
    Control control{};
    std::atomic<bool> wrong{false}, peer_done{false};
    run_as_threads(2, [&](Bootstrap& bootstrap) {
        Sums<Link> sums{bootstrap, control, plans, 10'000'000'000};
        for (std::size_t i = 0; i < elements.size(); ++i) {
            HesitatingProbe probe{peer_done, bootstrap.rank() == 0 && i == 3, 4};
            if (!sums.operate(i, elements[i], static_cast<std::int64_t>(i), probe)) wrong = true;
        }
        if (bootstrap.rank() == 1) peer_done = true;
        bootstrap.barrier();
    });
    return wrong;
}

TEST(LowLatency, SlotsNotCleaned_GiveAWrongSum) {
    EXPECT_TRUE((stale_words_are_taken<BasicLowLatency<3, false>>()));
}

TEST(LowLatency, SlotsCleaned_TheReaderWaits) {
    EXPECT_FALSE((stale_words_are_taken<BasicLowLatency<3>>()));
}

/// Bits of an LL word: data below, flag above; the flag of the first message is 1.
TEST(LowLatency, Words_CarryDataAndFlag) {
    const auto plans = plans_of(2);
    Control control{};
    run_as_threads(2, [&](Bootstrap& bootstrap) {
        Sums<LowLatency> sums{bootstrap, control, plans, 10'000'000'000};
        std::vector<std::uint64_t> words;
        struct Probe : NoProbe {
            std::vector<std::uint64_t>* words = nullptr;
            void stored(const void* address, std::int64_t bytes) {
                EXPECT_EQ(bytes, 8);
                std::uint64_t word = static_cast<const std::atomic<std::uint64_t>*>(address)->load();
                words->push_back(word);
            }
        } probe;
        probe.words = &words;
        EXPECT_TRUE(sums.operate(4, 8, 0, probe));
        ASSERT_EQ(words.size(), 8U);
        const int sent_chunk = 1 - bootstrap.rank();
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(words[i] >> 32, 1U);
            EXPECT_EQ(
                static_cast<std::uint32_t>(words[i]),
                element_of(bootstrap.rank(), 0, sent_chunk * 4 + static_cast<std::int64_t>(i))
            );
            EXPECT_EQ(words[4 + i] >> 32, 2U);
        }
        bootstrap.barrier();
    });
}

}  // namespace
}  // namespace ringscope::engine::host
