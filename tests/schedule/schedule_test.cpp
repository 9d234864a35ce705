// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "schedule/plan.hpp"
#include "schedule/proof.hpp"
#include "schedule/rehearsal.hpp"
#include "schedule/traffic.hpp"
#include "tests/effort.hpp"
#include "tests/schedules/ring.hpp"
#include "tests/schedules/tree.hpp"
#include "tests/schedules/two_shot.hpp"

namespace ringscope::schedule {
namespace {

using testing::HasSubstr;

constexpr LinkFormat simple{.protocol = Protocol::simple, .min_parts = 2, .parts = 2};
constexpr LinkFormat ll{.protocol = Protocol::ll, .line_bytes = 8, .line_payload_bytes = 4};

std::vector<const ringscope_algorithm*> all_schedules() {
    return {&schedules::ring("ring-simple"), &schedules::two_shot_simple, &schedules::tree_simple};
}

std::vector<Program> programs_of(
    const ringscope_algorithm& algorithm, int ranks, std::int64_t slices, int in_flight = 4
) {
    std::vector<Program> programs;
    for (int rank = 0; rank < ranks; ++rank) {
        programs.push_back(record(
            algorithm, {.size = sizeof(ringscope_place),
                        .ranks = ranks,
                        .rank = rank,
                        .channels = 1,
                        .channel = 0,
                        .slices = slices,
                        .in_flight = in_flight}
        ));
    }
    return programs;
}

std::string disprove_both(const std::vector<Program>& programs, int chunks, std::int64_t slices) {
    const std::string apart = disprove(programs, chunks, slices, false);
    return apart.empty() ? disprove(programs, chunks, slices, true) : apart;
}

TEST(Cut, Parts_CoverTheWholeInOrder) {
    for (std::int64_t bytes : {0, 1, 15, 16, 17, 1'000'003, 100'000'000}) {
        for (std::int64_t parts : {1, 2, 3, 7, 64}) {
            std::int64_t end = 5;
            for (std::int64_t i = 0; i < parts; ++i) {
                const Range part = cut({5, bytes}, parts, i);
                EXPECT_EQ(part.begin, end);
                EXPECT_TRUE(i == parts - 1 || part.size % 16 == 0);
                end += part.size;
            }
            EXPECT_EQ(end, 5 + bytes);
        }
    }
}

TEST(Proof, AllSchedules_HoldEachRankOnce_ForUpTo64Ranks) {
    for (const ringscope_algorithm* algorithm : all_schedules()) {
        for (int ranks = 2; ranks <= (sanitized ? 12 : 64); ++ranks) {
            const auto programs = programs_of(*algorithm, ranks, 1);
            EXPECT_EQ(disprove_both(programs, algorithm->chunks(ranks), 1), "")
                << algorithm->id << " N=" << ranks;
        }
        for (int ranks : {2, 3, 5, 8}) {
            const auto programs = programs_of(*algorithm, ranks, 7);
            EXPECT_EQ(disprove_both(programs, algorithm->chunks(ranks), 7), "")
                << algorithm->id << " N=" << ranks;
        }
    }
}

TEST(Proof, OpDroppedOrDoubled_Fails) {
    for (const ringscope_algorithm* algorithm : all_schedules()) {
        for (int ranks : {2, 3, 4, 7}) {
            const auto programs = programs_of(*algorithm, ranks, 2);
            for (std::size_t op = 0; op < programs[1].ops.size(); ++op) {
                auto dropped = programs, doubled = programs;
                auto& dropped_ops = dropped[1].ops;
                auto& doubled_ops = doubled[1].ops;
                dropped_ops.erase(dropped_ops.begin() + static_cast<std::ptrdiff_t>(op));
                doubled_ops.insert(doubled_ops.begin() + static_cast<std::ptrdiff_t>(op), doubled_ops[op]);
                EXPECT_NE(disprove_both(dropped, algorithm->chunks(ranks), 2), "")
                    << algorithm->id << " op " << op;
                EXPECT_NE(disprove_both(doubled, algorithm->chunks(ranks), 2), "")
                    << algorithm->id << " op " << op;
            }
        }
    }
}

TEST(Proof, ExtraSend_IsNamed) {
    auto programs = programs_of(schedules::ring("ring-simple"), 3, 1);
    Op extra = programs[2].ops.front();
    programs[2].ops.push_back(extra);
    EXPECT_THAT(disprove_both(programs, 3, 1), HasSubstr("rank 2 sends 1 message(s) more to rank 0"));
}

TEST(Proof, InputReadAfterItsOutputWasStored_FailsInPlaceOnly) {
    auto programs = programs_of(schedules::two_shot_simple, 2, 1);
    // Rank 0 receives chunk 1 of the other before it sends its own contribution: fine with separate buffers
    // only.
    ASSERT_EQ(programs[0].ops.size(), 3u);
    for (auto& program : programs)
        program.ops.push_back({.chunk = 0, .local = RINGSCOPE_LOCAL_INPUT, .store = true});
    EXPECT_THAT(disprove(programs, 2, 1, true), HasSubstr("overwritten"));
}

/// With `parts` slots per op, ring and two-shot need one slot more, so that an op can post before its peer
/// consumes.
TEST(Rehearsal, LeastSlotsOfRingAndTwoShot_ArePartsPlusOne) {
    for (const ringscope_algorithm* algorithm :
         {&schedules::ring("ring-simple"), &schedules::two_shot_simple}) {
        for (int ranks : {2, 3, 4, 5, 8, 13}) {
            const auto programs = programs_of(*algorithm, ranks, 3);
            for (std::int64_t parts = 1; parts <= 4; ++parts) {
                EXPECT_TRUE(rehearse(programs, {.slots = parts + 1, .parts = parts}).complete());
                const Ending stuck = rehearse(programs, {.slots = parts, .parts = parts});
                EXPECT_FALSE(stuck.cycle.empty()) << algorithm->id << " N=" << ranks << " parts=" << parts;
                EXPECT_THAT(stuck.text(), HasSubstr("waits for a free slot at rank"));
            }
        }
    }
}

TEST(Plan, AllSchedules_PassWithThreeToEightSlots) {
    for (const ringscope_algorithm* algorithm : all_schedules()) {
        for (int ranks : sanitized ? std::vector{2, 3, 5} : std::vector{2, 3, 4, 5, 6, 7, 8, 16, 33}) {
            for (std::int64_t slots = 3; slots <= 8; ++slots) {
                for (const LinkFormat& link : {simple, ll}) {
                    EXPECT_NO_THROW((void)make_plan(
                        *algorithm, {.ranks = ranks,
                                     .bytes = 4096 * ranks + 52,
                                     .channels = 2,
                                     .slots = slots,
                                     .slot_bytes = 256,
                                     .link = link}
                    )) << algorithm->id
                       << " N=" << ranks << " S=" << slots;
                }
            }
        }
    }
}

TEST(Plan, TooFewSlots_EndsWithUsageNamingTheCycle) {
    try {
        (void)make_plan(
            schedules::ring("ring-simple"),
            {.ranks = 3, .bytes = 1 << 20, .slots = 2, .slot_bytes = 4096, .link = simple}
        );
        FAIL() << "two slots cannot hold two parts and leave one free";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::usage);
        EXPECT_THAT(e.what(), HasSubstr("rank 0 (op 1"));
        EXPECT_THAT(e.what(), HasSubstr("waits for a free slot at rank 1"));
    }
}

Plan ring_plan(int ranks, std::int64_t bytes, const LinkFormat& link = simple) {
    return make_plan(
        schedules::ring("ring-simple"),
        {.ranks = ranks, .bytes = bytes, .channels = 1, .slots = 8, .slot_bytes = 65536, .link = link}
    );
}

/// The figures of 100 MB that every text on rings quotes: 150 MB at N = 4, 187.5 MB at N = 16.
TEST(Traffic, Ring100MB_IsThePublishedFigure) {
    const LinkBytes four = declared_traffic(ring_plan(4, 100'000'000)).payload;
    const LinkBytes sixteen = declared_traffic(ring_plan(16, 100'000'000)).payload;
    for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(four.sent_by(rank), 150'000'000);
    for (int rank = 0; rank < 16; ++rank) EXPECT_EQ(sixteen.sent_by(rank), 187'500'000);
}

TEST(Traffic, Ring100MBOn64Ranks_MinMaxAndTotal) {
    const Description ring = describe(schedules::ring("ring-simple"), 64, 100'000'000);
    std::vector<std::int64_t> sent;
    for (int rank = 0; rank < 64; ++rank) sent.push_back(ring.declared.sent_by(rank));
    EXPECT_EQ(std::ranges::min(sent), 196'874'976);
    EXPECT_EQ(std::ranges::max(sent), 196'875'008);
    EXPECT_EQ(ring.declared.total(), 12'600'000'000);
    EXPECT_EQ(ring.steps, 126);
    EXPECT_EQ(ring.declared, ring.closed_form);
}

TEST(Traffic, AnySchedule_TotalIsExactlyTwiceNMinus1M) {
    for (const ringscope_algorithm* algorithm : all_schedules()) {
        EXPECT_EQ(describe(*algorithm, 8, 1'000'003).declared.total(), 2 * 7 * 1'000'003LL) << algorithm->id;
    }
}

TEST(Traffic, Declared_EqualsClosedForm_WhateverTheCut) {
    for (const ringscope_algorithm* algorithm : all_schedules()) {
        for (int ranks : {2, 3, 5, 8}) {
            for (std::int64_t bytes : {0, 1, 15, 16, 17, 127, 1023, 65537, 1'000'003}) {
                for (int channels : {1, 2, 3}) {
                    const PlanRequest request{
                        .ranks = ranks,
                        .bytes = bytes,
                        .channels = channels,
                        .slots = 8,
                        .slot_bytes = 1024,
                        .link = simple};
                    EXPECT_EQ(
                        declared_traffic(make_plan(*algorithm, request)).payload,
                        closed_form_traffic(*algorithm, request)
                    ) << algorithm->id
                      << " N=" << ranks << " M=" << bytes << " channels=" << channels;
                }
            }
        }
    }
}

TEST(Traffic, LowLatencyOnTheHost_TakesEightWireBytesForFour) {
    const DeclaredTraffic traffic = declared_traffic(ring_plan(4, 4'000'000, ll));
    for (int rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(traffic.wire.at(rank, (rank + 1) % 4), 2 * traffic.payload.at(rank, (rank + 1) % 4));
    }
}

TEST(Plan, RingSteps_AreHops) {
    for (int ranks : {2, 3, 4, 7, 16}) {
        const Plan plan = ring_plan(ranks, 1 << 20);
        EXPECT_EQ(plan.steps, 2 * (ranks - 1));
        for (const Program& program : plan.programs[0]) {
            EXPECT_EQ(static_cast<std::int64_t>(program.ops.size()), plan.slices * (2 * ranks - 1));
            for (const Op& op : program.ops) {
                for (const Message& recv : program.recvs(op)) {
                    for (const Message& send : program.sends(op)) EXPECT_EQ(send.step, recv.step + 1);
                }
            }
        }
    }
}

/// Depth ceil(log2 N) up and as much down: published for the double binary tree (N = 2: 1, 4: 2, 8: 3, 16:
/// 4).
TEST(Plan, TreeSteps_AreTwiceTheDepth) {
    for (const auto& [ranks, depth] : {std::pair{2, 1}, {4, 2}, {8, 3}, {16, 4}}) {
        const Plan plan = make_plan(
            schedules::tree_simple,
            {.ranks = ranks, .bytes = 1 << 20, .slots = 8, .slot_bytes = 1 << 20, .link = simple}
        );
        EXPECT_EQ(plan.steps, 2 * depth);
    }
}

TEST(Plan, MessagesNeverExceedTheSlots) {
    for (std::int64_t slot_bytes : {64, 4096}) {
        for (const LinkFormat& link : {simple, ll}) {
            for (std::int64_t bytes : {1, 63, 4096, 65537, 262145}) {
                const Plan plan = make_plan(
                    schedules::ring("ring-simple"), {.ranks = 3,
                                                     .bytes = bytes,
                                                     .channels = 2,
                                                     .slots = 4,
                                                     .slot_bytes = slot_bytes,
                                                     .link = link}
                );
                for (int channel : {0, 1}) {
                    for (const Op& op : plan.programs[static_cast<std::size_t>(channel)][0].ops) {
                        const Range piece = plan.piece(channel, op);
                        for (std::int64_t part = 0; part < plan.parts; ++part) {
                            EXPECT_LE(link.wire_bytes(cut(piece, plan.parts, part).size), slot_bytes);
                        }
                    }
                }
            }
        }
    }
}

void throwing_schedule(Player&) {
    throw std::runtime_error{"out of ideas"};
}
void self_sending_schedule(Player& p) {
    p.send(p.rank(), chunk(0));
}
int one_chunk(int) {
    return 1;
}
int even_only(int ranks) {
    return ranks % 2 == 0 ? 1 : 0;
}

ExitCode code_of(const ringscope_algorithm& algorithm) {
    try {
        (void)make_plan(algorithm, {.ranks = 3, .bytes = 64, .slots = 8, .slot_bytes = 64, .link = simple});
    } catch (const Error& e) {
        return e.code();
    }
    return ExitCode::ok;
}

TEST(Record, FaultsOfThePlugin_KeepTheirExitCodes) {
    static constexpr auto throwing = algorithm<throwing_schedule, one_chunk>("x", "", RINGSCOPE_SIMPLE);
    static constexpr auto to_itself = algorithm<self_sending_schedule, one_chunk>("x", "", RINGSCOPE_SIMPLE);
    static constexpr auto even = algorithm<throwing_schedule, even_only>("x", "", RINGSCOPE_SIMPLE);
    EXPECT_EQ(code_of(throwing), ExitCode::internal);
    EXPECT_EQ(code_of(to_itself), ExitCode::wrong_result);
    EXPECT_EQ(code_of(even), ExitCode::usage);
}

}  // namespace
}  // namespace ringscope::schedule
