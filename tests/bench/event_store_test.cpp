// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/event_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <tuple>

#include "tests/trace/samples.hpp"

namespace ringscope::bench {
namespace {

using bootstrap::Bootstrap;
using testing::ElementsAre;
using testing::IsEmpty;
using trace::EventRow;
using trace::testing::events;
using trace::testing::Folder;

std::vector<std::int64_t> seqs(const std::vector<EventRow>& rows) {
    std::vector<std::int64_t> seqs;
    for (const EventRow& row : rows) seqs.push_back(row.seq);
    return seqs;
}

SpillPlace place(const Folder& folder) {
    return {folder.file("x.h5.spill.1"), {.is_log = false, .rank = 1, .run_uuid = "u"}};
}

class Limit : public ::testing::TestWithParam<std::int64_t> {};

/// Whatever part of them waits in the file, events come back in order, in slices of any length.
TEST_P(Limit, EventsComeBackInOrder) {
    const Folder folder;
    EventStore store{GetParam(), place(folder)};
    const std::vector<EventRow> all = events(100);
    for (int round = 0; round < 2; ++round) {
        for (std::size_t at = 0; at < all.size(); at += 10) store.add(std::span{all}.subspan(at, 10));
        EXPECT_EQ(store.size(), 100);
        std::vector<std::int64_t> taken;
        for (const std::int64_t count : {1, 30, 0, 7, 62, 5}) {
            for (const std::int64_t seq : seqs(store.take(count))) taken.push_back(seq);
        }
        EXPECT_EQ(taken, seqs(all));
        store.clear();
        EXPECT_EQ(store.size(), 0);
        EXPECT_THAT(store.take(10), IsEmpty());
    }
    EXPECT_EQ(std::filesystem::exists(place(folder).path), GetParam() < 100);
    store.remove();
    EXPECT_FALSE(std::filesystem::exists(place(folder).path));
}

INSTANTIATE_TEST_SUITE_P(EventStore, Limit, testing::Values(1, 9, 10, 11, 35, 99, 100, 1000));

TEST(EventStore, WithoutAPlace_StaysInMemory) {
    EventStore store{1, {}};
    store.add(events(50));
    EXPECT_EQ(seqs(store.take(50)), seqs(events(50)));
}

TEST(EventStore, RunThatEnds_LeavesSamplesAndEvents) {
    const Folder folder;
    EventStore store{15, place(folder)};
    for (int i = 0; i < 2; ++i) store.add(events(10));
    const std::vector<trace::SampleRow> samples{{.iteration = 4}, {.iteration = 5}};
    store.add(events(3));
    store.leave(samples);
    trace::SpillReader reader{place(folder).path};
    EXPECT_EQ(reader.origin().rank, 1);
    EXPECT_EQ(reader.next()->as<EventRow>().size(), 20U);
    EXPECT_EQ(reader.next()->as<trace::SampleRow>().at(1).iteration, 5);
    EXPECT_EQ(seqs(reader.next()->as<EventRow>()), seqs(events(3)));
    EXPECT_FALSE(reader.next());
}

TEST(EventStore, RunThatEndsBeforeItHasAnything_LeavesNoFile) {
    const Folder folder;
    EventStore store{15, place(folder)};
    store.leave({});
    EXPECT_FALSE(std::filesystem::exists(place(folder).path));
}

TEST(Rounds, HoldWholeIterations_AndPartsOfLargeOnes) {
    EXPECT_THAT(rounds({{}, {}}, 10), IsEmpty());
    EXPECT_THAT(rounds({{0, 0}, {0, 0}}, 10), IsEmpty());
    EXPECT_THAT(rounds({{2, 1}, {3, 4}}, 10), ElementsAre(ElementsAre(3, 7)));
    EXPECT_THAT(
        rounds({{2, 1, 6}, {3, 5, 1}}, 10),
        ElementsAre(ElementsAre(2, 3), ElementsAre(1, 5), ElementsAre(6, 1))
    );
    EXPECT_THAT(
        rounds({{1, 12, 1}, {0, 0, 0}, {1, 11, 2}}, 10),
        ElementsAre(
            ElementsAre(1, 0, 1), ElementsAre(10, 0, 0), ElementsAre(2, 0, 8), ElementsAre(0, 0, 3),
            ElementsAre(1, 0, 2)
        )
    );
}

/// Three iterations of three ranks, of which one has nothing; a slice of 65536 takes one iteration.
TEST(GatherEvents, AllOfAllRanks_IterationByIteration) {
    const std::vector<std::int64_t> sizes{20'000, 0, 30'000};
    std::vector<EventRow> all;
    std::size_t longest = 0;
    bootstrap::run_as_threads(3, [&](Bootstrap& bootstrap) {
        EventStore store{1 << 20, {}};
        for (int iteration = 0; iteration < 3; ++iteration) {
            std::vector<EventRow> mine = events(sizes[static_cast<std::size_t>(bootstrap.rank())]);
            for (EventRow& row : mine) row.rank = bootstrap.rank(), row.iteration = iteration;
            store.add(mine);
        }
        gather_events(bootstrap, store, [&](const std::vector<EventRow>& rows) {
            longest = std::max(longest, rows.size());
            all.insert(all.end(), rows.begin(), rows.end());
        });
    });
    EXPECT_EQ(longest, 50'000U);
    ASSERT_EQ(all.size(), 150'000U);
    EXPECT_TRUE(std::ranges::is_sorted(all, [](const EventRow& a, const EventRow& b) {
        return std::tie(a.iteration, a.rank, a.seq) < std::tie(b.iteration, b.rank, b.seq);
    }));
}

TEST(GatherEvents, FailureAtTheRoot_IsThrownOnAll) {
    std::atomic<int> thrown{0};
    bootstrap::run_as_threads(2, [&](Bootstrap& bootstrap) {
        EventStore store{1 << 20, {}};
        store.add(events(100'000));
        try {
            gather_events(bootstrap, store, [](const std::vector<EventRow>&) {
                throw Error{ExitCode::output, "disk full"};
            });
        } catch (const bootstrap::AgreedError& e) {
            thrown += e.code() == ExitCode::output ? 1 : 0;
        }
    });
    EXPECT_EQ(thrown, 2);
}

/// The rank goes on measuring with the others, and all learn of it when they gather.
TEST(GatherEvents, SpillThatCannotBeWritten_IsAnErrorOnAll) {
    std::atomic<int> thrown{0};
    bootstrap::run_as_threads(2, [&](Bootstrap& bootstrap) {
        const bool spills = bootstrap.rank() == 1;
        EventStore store{1, spills ? SpillPlace{"/nowhere/x.h5.spill.1", {}} : SpillPlace{}};
        for (int i = 0; i < 3; ++i) store.add(events(100));
        EXPECT_EQ(store.size(), 300);
        try {
            gather_events(bootstrap, store, [](const std::vector<EventRow>&) {});
        } catch (const bootstrap::AgreedError& e) {
            EXPECT_THAT(e.what(), testing::HasSubstr("rank 1: cannot create /nowhere/x.h5.spill.1"));
            thrown += e.code() == ExitCode::output ? 1 : 0;
        }
    });
    EXPECT_EQ(thrown, 2);
}

/// The spill of a rank that was cut short behind its back.
TEST(GatherEvents, SpillThatCannotBeReadBack_IsAnErrorOnAll) {
    const Folder folder;
    std::atomic<int> thrown{0};
    bootstrap::run_as_threads(2, [&](Bootstrap& bootstrap) {
        const bool spills = bootstrap.rank() == 1;
        EventStore store{1, spills ? place(folder) : SpillPlace{}};
        store.add(events(100));
        if (spills) std::filesystem::resize_file(place(folder).path, 200);
        try {
            gather_events(bootstrap, store, [](const std::vector<EventRow>&) {});
        } catch (const bootstrap::AgreedError& e) {
            thrown += e.code() == ExitCode::output ? 1 : 0;
        }
    });
    EXPECT_EQ(thrown, 2);
}

}  // namespace
}  // namespace ringscope::bench
