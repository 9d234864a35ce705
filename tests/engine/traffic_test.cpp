// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/support.hpp"

namespace ringscope::engine::host {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Traffic : public testing::TestWithParam<std::string> {};

/// Declared by the schedule, traced by the copy loops, counted byte by byte by address, and the closed form:
/// one number.
TEST_P(Traffic, DeclaredTracedCountedAndClosedForm_AreEqualPerLink) {
    for (const int ranks : sanitized ? std::vector{2, 5} : std::vector{2, 3, 4, 5, 8}) {
        for (const std::int64_t bytes : {0, 1, 15, 17, 127, 4096, 65537}) {
            for (const Layout& layout : {Layout{3, 4096, 1}, Layout{5, 512, 2}}) {
                SCOPED_TRACE(GetParam() + " N=" + std::to_string(ranks) + " M=" + std::to_string(bytes));
                const schedule::Plan plan = plan_of(GetParam(), ranks, bytes, layout);
                const bench::PreparedCase accounts = accounts_of(GetParam(), plan);
                EXPECT_EQ(accounts.declared->payload, *accounts.closed_form);
                for (const Buffered buffered : {Buffered::apart, Buffered::within_reach}) {
                    const Played played = play_counted(plan, {}, 20'000'000'000, buffered);
                    EXPECT_THAT(played.faults, IsEmpty());
                    EXPECT_THAT(ledger_of(GetParam(), plan, played).differences, IsEmpty());
                    EXPECT_EQ(played.counted, accounts.declared->wire);
                }
            }
        }
    }
}

/// Protocol Simple adds nothing to the payload; LL on the host stores 8 bytes for every 4.
TEST_P(Traffic, WireBytes_FollowTheProtocol) {
    const schedule::Plan plan = plan_of(GetParam(), 4, 64'000, {4, 4096, 1});
    if (plan.request.link.protocol == Protocol::ll128) return;  // its lines depend on the cut: below
    const Played played = play_counted(plan);
    const schedule::LinkBytes payload = *accounts_of(GetParam(), plan).closed_form;
    const std::int64_t factor = plan.request.link.protocol == Protocol::ll ? 2 : 1;
    for (int src = 0; src < 4; ++src) {
        for (int dst = 0; dst < 4; ++dst)
            EXPECT_EQ(played.counted.at(src, dst), factor * payload.at(src, dst));
    }
}

/// A slot of 32 lines holds 3840 bytes, so a chunk of 16,000 goes in 5 slices of 3200: 27 lines of 128 bytes
/// each. A link carries 6 chunks.
TEST(Traffic, LowLatency128_StoresWholeLines) {
    const schedule::Plan plan = plan_of("ring-ll128", 4, 64'000, {4, 4096, 1});
    const Played played = play_counted(plan);
    for (int src = 0; src < 4; ++src) EXPECT_EQ(played.counted.at(src, (src + 1) % 4), 6 * 5 * 27 * 128);
}

INSTANTIATE_TEST_SUITE_P(Engine, Traffic, testing::ValuesIn(all_algorithms), test_name_of_id);

/// Mutants: each must be caught, by the data, by the ledger, or by a wait that ends.
class Mutants : public testing::Test {
 protected:
    void play(const std::string& id, int ranks, std::int64_t bytes, const Change& change) {
        const schedule::Plan plan = plan_of(id, ranks, bytes, {8, 4096, 1});
        played_ = play_counted(plan, change, 300'000'000);
        ledger_ = ledger_of(id, plan, played_);
    }

    Played played_;
    bench::Ledger ledger_;
};

TEST_F(Mutants, Unchanged_PassesBoth) {
    play("ring-simple", 3, 3 * 1024, {});
    EXPECT_THAT(played_.faults, IsEmpty());
    EXPECT_THAT(ledger_.differences, IsEmpty());
}

TEST_F(Mutants, Send16BytesShort_IsCaughtByDataAndLedger) {
    play("ring-simple", 3, 3 * 1024, [](int rank, auto& ops) {
        if (rank == 1) ops[0].bytes.size -= 16;
    });
    EXPECT_THAT(played_.faults, Not(IsEmpty()));
    ASSERT_THAT(ledger_.differences, Not(IsEmpty()));
    EXPECT_THAT(
        ledger_.differences[0], HasSubstr("link 1 -> 2: sent bytes in iteration 0 4080, declared 4096")
    );
}

TEST_F(Mutants, Send16BytesLong_IsCaughtByTheLedger) {
    play("ring-simple", 3, 3 * 1024, [](int rank, auto& ops) {
        if (rank == 1) ops[0].bytes.size += 16;
    });
    ASSERT_THAT(ledger_.differences, Not(IsEmpty()));
    EXPECT_THAT(ledger_.differences[0], HasSubstr("4112, declared 4096"));
}

TEST_F(Mutants, SliceSentTwice_IsCaughtByDataAndLedger) {
    play("ring-simple", 2, 2 * 1024, [](int rank, auto& ops) {
        if (rank == 0) ops.insert(ops.begin(), ops[0]);
    });
    EXPECT_THAT(played_.faults, Not(IsEmpty()));
    ASSERT_THAT(ledger_.differences, Not(IsEmpty()));
    EXPECT_THAT(
        ledger_.differences[0], HasSubstr("link 0 -> 1: sent bytes in iteration 0 3072, declared 2048")
    );
}

TEST_F(Mutants, OpLeftOut_EndsInAWaitThatEnds) {
    play("ring-simple", 3, 3 * 1024, [](int rank, auto& ops) {
        if (rank == 2) ops.erase(ops.begin());
    });
    EXPECT_THAT(played_.faults, testing::Contains(HasSubstr("waited in vain")));
    EXPECT_THAT(ledger_.differences, Not(IsEmpty()));
}

/// A reader of protocol LL waits for each word, so a short message is not wrong but stuck.
TEST_F(Mutants, LowLatencySend16BytesShort_EndsInAWaitThatEnds) {
    play("ring-ll", 3, 3 * 1024, [](int rank, auto& ops) {
        if (rank == 1) ops[0].bytes.size -= 16;
    });
    EXPECT_THAT(played_.faults, testing::Contains(HasSubstr("waited in vain")));
    EXPECT_THAT(ledger_.differences, Not(IsEmpty()));
}

/// 1008 bytes of 1024 are 9 lines all the same: nobody is stuck, but the sum is wrong.
TEST_F(Mutants, LowLatency128Send16BytesShort_IsCaughtByDataAndLedger) {
    play("ring-ll128", 3, 3 * 1024, [](int rank, auto& ops) {
        if (rank == 1) ops[0].bytes.size -= 16;
    });
    EXPECT_THAT(played_.faults, Not(IsEmpty()));
    EXPECT_THAT(ledger_.differences, Not(IsEmpty()));
}

TEST_F(Mutants, LowLatency128SendALineShort_EndsInAWaitThatEnds) {
    play("ring-ll128", 3, 3 * 1024, [](int rank, auto& ops) {
        if (rank == 1) ops[0].bytes.size -= 128;
    });
    EXPECT_THAT(played_.faults, testing::Contains(HasSubstr("waited in vain")));
    EXPECT_THAT(ledger_.differences, Not(IsEmpty()));
}

TEST_F(Mutants, ReductionSkipped_IsCaughtByTheDataAlone) {
    play("ring-simple", 2, 2 * 1024, [](int rank, auto& ops) {
        if (rank == 0) ops[1].local_at = -1;
    });
    EXPECT_THAT(played_.faults, Not(IsEmpty()));
    EXPECT_THAT(ledger_.differences, IsEmpty());
}

}  // namespace
}  // namespace ringscope::engine::host
