// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ringscope::bench {
namespace {

using Phases = std::map<std::string, std::int64_t>;

Phases phases_of(const Ladder& ladder) {
    Phases phases;
    for (const trace::ColdRow& row : ladder.rows(3)) {
        EXPECT_EQ(row.rank, 3);
        EXPECT_TRUE(phases.emplace(row.phase, row.ns).second) << row.phase << " twice";
    }
    return phases;
}

/// Of a rank whose process was started at 100: `main` at 150, and so on; the first collective from 900 to
/// 960.
Ladder whole() {
    Ladder ladder{100, 150};
    ladder.step("mpi_init", 250);
    ladder.step("bootstrap", 260);
    ladder.step("plugin_load", 300);
    ladder.step("bootstrap", 600, {.nccl_init = 40, .first_launch = 100});
    ladder.finish(2, 900, 960, {.nccl_init = 100, .ipc_open = 7, .first_launch = 100});
    return ladder;
}

TEST(Ladder, PhasesFollowEachOtherAndInnerOnesAreTheirOwn) {
    EXPECT_EQ(
        phases_of(whole()), (Phases{
                                {"process_start", 50},
                                {"mpi_init", 100},
                                {"plugin_load", 40},
                                {"bootstrap", 10 + 300 - 140},
                                {"first_launch", 100},
                                {"nccl_init", 100},
                                {"ipc_open", 7},
                                {"prepare", 300 - 60 - 7},
                                {"total", 860}})
    );
}

TEST(Ladder, PhasesAndTheFirstCollectiveAreTheTotal) {
    Phases phases = phases_of(whole());
    const std::int64_t total = phases.extract("total").mapped();
    std::int64_t sum = 60;  // the first collective itself
    for (const auto& [name, ns] : phases) sum += ns;
    EXPECT_EQ(sum, total);
}

TEST(Ladder, PreparationAndTotalBelongToTheCaseOfTheFirstCollective) {
    for (const trace::ColdRow& row : whole().rows(0))
        EXPECT_EQ(row.case_index, row.phase == "prepare" || row.phase == "total" ? 2 : -1) << row.phase;
}

TEST(Ladder, WhatComesLaterChangesNothing) {
    Ladder ladder = whole();
    ladder.step("output", 2000, {.nccl_init = 500});
    ladder.finish(3, 3000, 3100, {.nccl_init = 900});
    EXPECT_EQ(phases_of(ladder), phases_of(whole()));
}

TEST(Ladder, WithoutAFirstCollective_HasNoTotal) {
    Ladder ladder{100, 150};
    ladder.step("mpi_init", 250);
    EXPECT_EQ(phases_of(ladder), (Phases{{"process_start", 50}, {"mpi_init", 100}}));
}

}  // namespace
}  // namespace ringscope::bench
