// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/wait.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/time.hpp"
#include "tests/engine/support.hpp"

namespace ringscope::engine::host {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::int64_t ms = 1'000'000;

struct Stuck {
    std::vector<std::string> texts;  ///< of the ranks that gave up
    std::int64_t took_ns = 0;        ///< until the last of them was free
};

/// All ranks but one run an operation; `wait_ns` is each rank's patience.
Stuck play_without(
    int missing, int ranks, const std::string& id, const std::function<std::int64_t(int rank)>& wait_ns
) {
    const schedule::Plan plan = plan_of(id, ranks, 4096 * ranks, {4, 4096, 1});
    Faults faults;
    std::atomic<std::int64_t> begin{0}, end{0};
    run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        HostEngine engine{bootstrap, {.wait_ns = wait_ns(bootstrap.rank()), .oversubscribed = true}};
        const auto collective = engine.prepare("key", plan, DataType::float32, ReduceOp::sum).collective;
        std::vector<std::byte> input(static_cast<std::size_t>(plan.request.bytes)), output(input.size());
        bootstrap.barrier();
        begin = now_ns();
        try {
            if (bootstrap.rank() != missing) collective->run(input.data(), output.data());
        } catch (const StuckError& e) {
            EXPECT_EQ(e.code(), ExitCode::timeout);
            faults.add(e.what());
            end = now_ns();
        }
        bootstrap.barrier();
    });
    return {faults.texts(), end - begin};
}

TEST(Wait, RankThatNeverRuns_AllOthersLeaveInTime_NamingIt) {
    for (const char* id : {"ring-ll", "ring-ll128", "ring-simple"}) {
        const Stuck stuck = play_without(2, 4, id, [](int) { return 300 * ms; });
        EXPECT_THAT(stuck.texts, SizeIs(3));
        EXPECT_THAT(
            stuck.texts, Each(AllOf(
                             StartsWith("no progress for 300 ms (timeout.wait): rank 3 waits for data from "
                                        "rank 2 at step 0, chunk 1, "
                                        "slice 0, which does not answer"),
                             HasSubstr("; rank 0 waits for data from rank 3 at step 1, chunk 1, slice 0"),
                             HasSubstr("; rank 1 waits for data from rank 0 at step 2, chunk 1, slice 0")
                         ))
        );
        EXPECT_GE(stuck.took_ns, 300 * ms);
        EXPECT_LT(stuck.took_ns, 5'000 * ms);
    }
}

TEST(Wait, OneRankGivesUp_TheAbortWordFreesThePatientOnes) {
    const Stuck stuck =
        play_without(0, 5, "ring-simple", [](int rank) { return (rank == 1 ? 200 : 600'000) * ms; });
    EXPECT_THAT(stuck.texts, SizeIs(4));
    EXPECT_LT(stuck.took_ns, 10'000 * ms);
}

TEST(Wait, EverySchedule_LetsAllOthersGo) {
    for (const std::string& id : all_algorithms) {
        EXPECT_THAT(play_without(1, 3, id, [](int) { return 200 * ms; }).texts, SizeIs(2)) << id;
    }
}

TEST(Waiter, ComesTrue_Returns) {
    Control control{};
    Waiter waiter{control, 0, 10'000 * ms, true};
    std::atomic<bool> ready{false};
    std::thread other{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        ready = true;
    }};
    EXPECT_NO_THROW(waiter.wait([&] { return ready.load(); }, Where{}));
    other.join();
    EXPECT_FALSE(waiter.aborted());
}

TEST(Waiter, DoesNotComeTrue_RecordsAndAborts) {
    Control control{};
    Waiter waiter{control, 3, 50 * ms, false};
    const std::int64_t begin = now_ns();
    EXPECT_THROW(
        waiter.wait(
            [] { return false; }, Where{.peer = 1, .step = 2, .chunk = 4, .slice = 5, .for_credit = true}
        ),
        GaveUp
    );
    EXPECT_GE(now_ns() - begin, 50 * ms);
    EXPECT_TRUE(waiter.aborted());
    EXPECT_EQ(
        describe_stuck(control, 4),
        "rank 3 waits for a free slot at rank 1 at step 2, chunk 4, slice 5, which does not answer"
    );
}

TEST(Waiter, AbortedByAnother_LeavesBeforeItsDeadline) {
    Control control{};
    control.abort = 1;
    Waiter waiter{control, 0, 600'000 * ms, true};
    EXPECT_THROW(waiter.wait([] { return false; }, Where{}), GaveUp);
}

void record(Control& control, int rank, int peer, int step, int chunk) {
    StuckRecord& stuck = control.stuck[static_cast<std::size_t>(rank)];
    stuck.peer = peer;
    stuck.step = step;
    stuck.chunk = chunk;
    stuck.valid = 1;
}

TEST(DescribeStuck, RootComesFirst_WhateverItsRank) {
    Control control{};
    record(control, 0, 1, 5, 0);
    record(control, 1, 3, 4, 0);
    record(control, 2, 0, 6, 0);
    EXPECT_EQ(
        describe_stuck(control, 4),
        "rank 1 waits for data from rank 3 at step 4, chunk 0, slice 0, which does not answer; rank 0 waits "
        "for "
        "data from rank 1 at step 5, chunk 0, slice 0; rank 2 waits for data from rank 0 at step 6, chunk 0, "
        "slice 0"
    );
}

TEST(DescribeStuck, CircleOfWaits_NamesAll) {
    Control control{};
    record(control, 0, 1, 0, 0);
    record(control, 1, 0, 0, 1);
    EXPECT_EQ(
        describe_stuck(control, 2),
        "rank 0 waits for data from rank 1 at step 0, chunk 0, slice 0; rank 1 waits "
        "for data from rank 0 at step 0, chunk 1, slice 0"
    );
}

}  // namespace
}  // namespace ringscope::engine::host
