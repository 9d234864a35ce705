// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/error.hpp"
#include "ringscope/plugin.hpp"
#include "schedule/plan.hpp"
#include "schedule/proof.hpp"
#include "schedule/rehearsal.hpp"
#include "schedule/traffic.hpp"
#include "tests/effort.hpp"
#include "tests/schedules/built.hpp"

namespace ringscope::schedule {
namespace {

using testing::HasSubstr;

constexpr LinkFormat simple{.protocol = Protocol::simple, .min_parts = 2, .parts = 2};
constexpr LinkFormat ll{.protocol = Protocol::ll, .line_bytes = 8, .line_payload_bytes = 4};

std::vector<const ringscope_algorithm*> all_schedules() {
    std::vector<const ringscope_algorithm*> algorithms;
    for (const std::string& id : schedules::all) algorithms.push_back(&schedules::built(id));
    return algorithms;
}

std::vector<Program> programs_of(
    const ringscope_algorithm& algorithm, int ranks, std::int64_t slices, int in_flight = 4
) {
    const PlanRequest request{.ranks = ranks, .options = usual_options(algorithm)};
    std::vector<Program> programs;
    for (int rank = 0; rank < ranks; ++rank) {
        ringscope_place place = place_of(request, rank);
        place.slices = slices;
        place.in_flight = in_flight;
        programs.push_back(record(algorithm, place));
    }
    return programs;
}

int chunks_for(const ringscope_algorithm& algorithm, int ranks) {
    return chunks_of(algorithm, {.ranks = ranks, .options = usual_options(algorithm)});
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
        for (int ranks = 2; ranks <= (sanitized ? 6 : 64); ++ranks) {
            const auto programs = programs_of(*algorithm, ranks, 1);
            EXPECT_EQ(disprove_both(programs, chunks_for(*algorithm, ranks), 1), "")
                << algorithm->id << " N=" << ranks;
        }
        for (int ranks : {2, 3, 5, 8}) {
            const auto programs = programs_of(*algorithm, ranks, 7);
            EXPECT_EQ(disprove_both(programs, chunks_for(*algorithm, ranks), 7), "")
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
                EXPECT_NE(disprove_both(dropped, chunks_for(*algorithm, ranks), 2), "")
                    << algorithm->id << " op " << op;
                EXPECT_NE(disprove_both(doubled, chunks_for(*algorithm, ranks), 2), "")
                    << algorithm->id << " op " << op;
            }
        }
    }
}

TEST(Proof, ExtraSend_IsNamed) {
    auto programs = programs_of(schedules::built("ring-simple"), 3, 1);
    Op extra = programs[2].ops.front();
    programs[2].ops.push_back(extra);
    EXPECT_THAT(disprove_both(programs, 3, 1), HasSubstr("rank 2 sends 1 message(s) more to rank 0"));
}

TEST(Proof, InputReadAfterItsOutputWasStored_FailsInPlaceOnly) {
    auto programs = programs_of(schedules::built("two-shot"), 2, 1);
    // Rank 0 receives chunk 1 of the other before it sends its own contribution: fine with separate buffers
    // only.
    ASSERT_EQ(programs[0].ops.size(), 3u);
    for (auto& program : programs)
        program.ops.push_back({.chunk = 0, .local = RINGSCOPE_LOCAL_INPUT, .store = true});
    EXPECT_THAT(disprove(programs, 2, 1, true), HasSubstr("overwritten"));
}

void contributes_though_it_serves(Player& p) {
    if (p.rank() == 0) p.send(1, chunk(0));
    if (p.rank() == 1)
        p.op(
            {.recv = 0,
             .local = Local::input,
             .local_at = 1,
             .store = true,
             .finish = true,
             .chunks = chunk(0)}
        );
}

int a_single_chunk(int) {
    return 1;
}

std::int32_t all_but_rank_0(const ringscope_place* place) {
    return place->rank == 0 ? 0 : 1;
}

/// A rank that takes no part must not contribute, nor be stored to.
TEST(Proof, RankThatOnlyServes_ContributesNothing) {
    static constexpr auto mutant = algorithm<contributes_though_it_serves, a_single_chunk>(
        "x", "", RINGSCOPE_SIMPLE, nullptr, {.takes_part = all_but_rank_0}
    );
    try {
        (void)make_plan(mutant, {.ranks = 2, .bytes = 64, .slots = 8, .slot_bytes = 64, .link = simple});
        FAIL() << "rank 0 contributed";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::wrong_result);
        EXPECT_THAT(e.what(), HasSubstr("holds the contribution of rank 0 1 times"));
    }
}

TEST(Plan, MembersOfDedicatedServers_AreTheWorkers) {
    const auto& servers = schedules::built("parameter-server");
    const Plan plan = make_plan(
        servers,
        {.ranks = 5, .bytes = 4096, .slots = 8, .slot_bytes = 4096, .link = simple, .options = {2, 1}}
    );
    EXPECT_EQ(plan.members, (std::vector<std::int32_t>{2, 3, 4}));
    EXPECT_EQ(plan.chunks, 2);
}

TEST(Plan, MoreServersThanRanks_IsUsage) {
    for (const std::vector<std::int64_t>& options : {std::vector<std::int64_t>{4, 0}, {3, 1}}) {
        try {
            (void)make_plan(
                schedules::built("parameter-server"),
                {.ranks = 3, .bytes = 64, .slots = 8, .slot_bytes = 64, .link = simple, .options = options}
            );
            FAIL() << options[0] << " servers of 3 ranks";
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::usage);
        }
    }
}

/// With `parts` slots per op, ring and two-shot need one slot more, so that an op can post before its peer
/// consumes.
TEST(Rehearsal, LeastSlotsOfRingAndTwoShot_ArePartsPlusOne) {
    for (const ringscope_algorithm* algorithm :
         {&schedules::built("ring-simple"), &schedules::built("two-shot")}) {
        for (int ranks : {2, 3, 4, 5, 8, 13}) {
            const auto programs = programs_of(*algorithm, ranks, 3, 1);
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
        for (int ranks : sanitized ? std::vector{2, 3} : std::vector{2, 3, 4, 5, 6, 7, 8, 16, 33}) {
            for (std::int64_t slots = 3; slots <= 8; ++slots) {
                for (const LinkFormat& link : {simple, ll}) {
                    EXPECT_NO_THROW((void)make_plan(
                        *algorithm, {.ranks = ranks,
                                     .bytes = 3 * 512 * chunks_for(*algorithm, ranks) + 52,
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
            schedules::built("ring-simple"),
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
        schedules::built("ring-simple"),
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
    const Description ring = describe(schedules::built("ring-simple"), 64, 100'000'000);
    std::vector<std::int64_t> sent;
    for (int rank = 0; rank < 64; ++rank) sent.push_back(ring.declared.sent_by(rank));
    EXPECT_EQ(std::ranges::min(sent), 196'874'976);
    EXPECT_EQ(std::ranges::max(sent), 196'875'008);
    EXPECT_EQ(ring.declared.total(), 12'600'000'000);
    EXPECT_EQ(ring.steps, 126);
    EXPECT_EQ(ring.declared, ring.closed_form);
}

TEST(Traffic, AnySchedule_TotalIsExactlyTwiceNMinus1M) {
    for (const std::string id :
         {"ring-simple", "tree-simple", "parameter-server", "halving-doubling", "two-shot", "ipc-pcie"}) {
        const Description description = describe(schedules::built(id), 8, 1'000'003);
        EXPECT_EQ(description.declared.total(), 2 * 7 * 1'000'003LL) << id;
    }
    for (const std::string id : {"one-shot", "ipc-pcie-naive"}) {
        const Description description = describe(schedules::built(id), 8, 1'000'003);
        EXPECT_EQ(description.declared.total(), 8 * 7 * 1'000'003LL) << id;
    }
}

std::vector<std::int64_t> sent(const Description& description) {
    std::vector<std::int64_t> bytes;
    for (int rank = 0; rank < description.ranks; ++rank) bytes.push_back(description.declared.sent_by(rank));
    return bytes;
}

std::int64_t received_by(const Description& description, int rank) {
    std::int64_t bytes = 0;
    for (int src = 0; src < description.ranks; ++src) bytes += description.declared.at(src, rank);
    return bytes;
}

/// M = 100,000,000 as in the published table: the server carries (N-1)M each way, a worker M.
TEST(Traffic, ParameterServer_CarriesNMinus1M) {
    for (const auto& [ranks, carried] :
         {std::pair{4, 300'000'000LL}, {16, 1'500'000'000LL}, {64, 6'300'000'000LL}}) {
        const Description d = describe(schedules::built("parameter-server"), ranks, 100'000'000);
        EXPECT_EQ(d.declared.sent_by(0), carried);
        EXPECT_EQ(received_by(d, 0), carried);
        EXPECT_EQ(d.declared.sent_by(ranks - 1), 100'000'000);
        EXPECT_EQ(d.steps, 2);
    }
}

/// Servers that are workers too: shard s of S has M/S bytes here, its server sends it to N-1 others, and
/// every worker sends its contribution to the other shards.
TEST(Traffic, ShardedServers_ShareTheLoad) {
    const Description d = describe(schedules::built("parameter-server"), 4, 1'600'000, {2, 0});
    EXPECT_EQ(
        sent(d), (std::vector<std::int64_t>{800'000 + 2'400'000, 800'000 + 2'400'000, 1'600'000, 1'600'000})
    );
    EXPECT_EQ(
        describe(schedules::built("parameter-server"), 5, 1'000'003, {5, 0}).declared,
        describe(schedules::built("two-shot"), 5, 1'000'003).declared
    );
}

TEST(Traffic, DedicatedServer_CarriesWorkersTimesM) {
    const Description d = describe(schedules::built("parameter-server"), 5, 1'000'000, {1, 1});
    EXPECT_EQ(sent(d), (std::vector<std::int64_t>{4'000'000, 1'000'000, 1'000'000, 1'000'000, 1'000'000}));
    EXPECT_EQ(received_by(d, 0), 4'000'000);
}

/// (u + c) M/2 on each tree for u parents and c children, from the published trees of 4 and 8 ranks: the
/// first and the last rank are leaf and root once each, all others have three neighbours in one tree and one
/// in the other.
TEST(Traffic, Trees_CarryHalfAMessagePerNeighbour) {
    EXPECT_EQ(
        sent(describe(schedules::built("tree-simple"), 4, 3'200)),
        (std::vector<std::int64_t>{3'200, 6'400, 6'400, 3'200})
    );
    EXPECT_EQ(
        sent(describe(schedules::built("tree-ll"), 8, 3'200)),
        (std::vector<std::int64_t>{3'200, 6'400, 6'400, 6'400, 6'400, 6'400, 6'400, 3'200})
    );
    EXPECT_EQ(
        sent(describe(schedules::built("tree-simple"), 3, 3'200)),
        (std::vector<std::int64_t>{4'800, 3'200, 4'800})
    );
}

/// N = 6: P = 4, ranks 1 and 3 play for 0 and 2. A player moves 2 * 3/4 M, a folded one M more.
TEST(Traffic, HalvingDoublingOn6Ranks_FoldsTwoPairs) {
    EXPECT_EQ(
        sent(describe(schedules::built("halving-doubling"), 6, 6'400)),
        (std::vector<std::int64_t>{6'400, 16'000, 6'400, 16'000, 9'600, 9'600})
    );
    EXPECT_EQ(describe(schedules::built("halving-doubling"), 8, 6'400).steps, 6);
}

/// M + (N-2) L[r] with chunks of 32, 32, 16, 16 and 16 + 7 bytes.
TEST(Traffic, TwoShotWithRaggedChunks_SendsMPlusNMinus2TimesItsChunk) {
    EXPECT_EQ(
        sent(describe(schedules::built("two-shot"), 5, 119)),
        (std::vector<std::int64_t>{119 + 3 * 32, 119 + 3 * 32, 119 + 3 * 16, 119 + 3 * 16, 119 + 3 * 23})
    );
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

/// A slot that no line fits into, and one that is not of whole lines.
TEST(Plan, Slots_AreOfWholeLines) {
    constexpr LinkFormat ll128{.protocol = Protocol::ll128, .line_bytes = 128, .line_payload_bytes = 120};
    PlanRequest request{.ranks = 2, .bytes = 4096, .slots = 4, .slot_bytes = 300, .link = ll128};
    const ringscope_algorithm& ring = schedules::built("ring-ll128");
    EXPECT_EQ(make_plan(ring, request).request.slot_bytes, 256);
    request.slot_bytes = 112;
    try {
        (void)make_plan(ring, request);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::usage);
        EXPECT_THAT(e.what(), HasSubstr("a slot of 112 bytes is too small, a line of ll128 has 128"));
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
            schedules::built("tree-simple"),
            {.ranks = ranks, .bytes = 1 << 20, .slots = 8, .slot_bytes = 1 << 20, .link = simple}
        );
        EXPECT_EQ(plan.steps, 2 * depth);
    }
}

/// When the last op of one chunk ends in the model of textbooks: a slice takes one unit of time over a link,
/// a link carries one slice at a time in each direction, and nothing else takes time.
std::int64_t time_of(const std::vector<Program>& programs, std::int32_t chunk) {
    std::vector<std::int64_t> at(programs.size(), 0);
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> link_free;
    std::map<std::pair<std::size_t, std::size_t>, std::deque<std::int64_t>> arrivals;
    std::int64_t last = 0;
    rehearse(programs, {.slots = unlimited_slots}, [&](std::int32_t rank, const Op& op) {
        if (op.chunk != chunk) return;
        const auto self = static_cast<std::size_t>(rank);
        for (const Message& m : programs[self].recvs(op)) {
            auto& line = arrivals[{static_cast<std::size_t>(m.peer), self}];
            at[self] = std::max(at[self], line.front());
            line.pop_front();
        }
        for (const Message& m : programs[self].sends(op)) {
            const std::pair link{self, static_cast<std::size_t>(m.peer)};
            const std::int64_t begin = std::max(at[self], link_free[link]);
            link_free[link] = begin + 1;
            arrivals[link].push_back(begin + 1);
            last = std::max(last, begin + 1);
        }
    });
    return last;
}

/// k slices through a tree of depth D take 2D + k - 1 units: the first one goes up and down, the others follow
/// it one unit apart. Without the lag between a rank's two directions each slice would wait for the one before
/// it to come back.
TEST(Plan, TreePipelinesItsSlices) {
    for (const auto& [ranks, depth] : {std::pair{2, 1}, {4, 2}, {8, 3}, {16, 4}}) {
        for (const std::int64_t slices : {1, 2, 5, 16, 64}) {
            const auto programs = programs_of(schedules::built("tree-simple"), ranks, slices, 4);
            EXPECT_EQ(time_of(programs, 0), 2 * depth + slices - 1) << ranks << " ranks, " << slices;
        }
    }
    const auto without_lag = programs_of(schedules::built("tree-simple"), 8, 16, 0);
    EXPECT_GT(time_of(without_lag, 0), 3 * (6 + 16 - 1));
}

TEST(Plan, MessagesNeverExceedTheSlots) {
    for (std::int64_t slot_bytes : {64, 4096}) {
        for (const LinkFormat& link : {simple, ll}) {
            for (std::int64_t bytes : {1, 63, 4096, 65537, 262145}) {
                const Plan plan = make_plan(
                    schedules::built("ring-simple"), {.ranks = 3,
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
