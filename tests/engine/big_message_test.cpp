// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/support.hpp"

namespace ringscope::engine::host {
namespace {

/// The figure that every text on rings quotes for 100 MB on four ranks: 2 * 3/4 * 100 MB = 150 MB per rank.
TEST(BigMessage, Ring100MBOnFourRanks_Moves150MBPerRank) {
    const schedule::Plan plan = plan_of("ring-simple", 4, 100'000'000, {8, 65536, 1});
    const Played played = play_counted(plan);
    EXPECT_THAT(played.faults, testing::IsEmpty());
    for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(played.counted.at(rank, (rank + 1) % 4), 150'000'000);
    const auto ledger = ledger_of("ring-simple", plan, played);
    EXPECT_THAT(ledger.differences, testing::IsEmpty());
    ASSERT_EQ(ledger.rows.size(), 4U);
    for (const trace::TrafficRow& row : ledger.rows) {
        EXPECT_EQ(row.declared_payload, 150'000'000);
        EXPECT_EQ(row.traced_payload, 150'000'000);
        EXPECT_EQ(row.closed_form, 150'000'000);
    }
}

}  // namespace
}  // namespace ringscope::engine::host
