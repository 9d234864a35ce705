// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/causality.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace ringscope::bench {
namespace {

using trace::Direction;
using trace::EventRow;

EventRow end_of(Direction direction, int rank, int peer, std::int64_t seq, std::int64_t ready_ns) {
    return {
        .rank = rank,
        .direction = direction,
        .peer = peer,
        .seq = seq,
        .begin_ns = ready_ns - 10,
        .ready_ns = ready_ns,
        .end_ns = ready_ns + 2'000};
}

/// A message that may be written at 1000, is handed over at 4000 and is there 700 ns later; and one back.
std::vector<EventRow> two_messages() {
    std::vector<EventRow> events{
        end_of(Direction::send, 0, 1, 0, 1'000), end_of(Direction::recv, 1, 0, 0, 4'700),
        end_of(Direction::recv, 0, 1, 0, 9'700), end_of(Direction::send, 1, 0, 0, 6'000)};
    events[0].posted_ns = 4'000;
    events[3].posted_ns = 9'000;
    return events;
}

std::vector<EventRow> shifted(std::vector<EventRow> events, int rank, std::int64_t ns) {
    for (EventRow& e : events) {
        if (e.rank != rank) continue;
        e.begin_ns += ns, e.ready_ns += ns, e.end_ns += ns;
        if (e.posted_ns != trace::not_available) e.posted_ns += ns;
    }
    return events;
}

const std::vector<std::int64_t> error{0, 710};

Causality check_causality(const std::vector<EventRow>& events, const std::vector<std::int64_t>& error_ns) {
    CausalityCheck check{error_ns};
    check.add(events);
    return check.found();
}

TEST(Causality, MessagesInOrder_HoldAndAreDecisive) {
    const Causality found = check_causality(two_messages(), error);
    EXPECT_EQ(found.pairs, 2);
    EXPECT_EQ(found.decisive, 2);
    EXPECT_EQ(found.violations, 0);
    EXPECT_EQ(found.first, "");
}

/// An iteration may come in parts, of which one has the sends and another the receives; ends of an iteration
/// that is over wait for nothing.
TEST(Causality, PartsOfAnIteration_AreTheSame) {
    std::vector<EventRow> events = two_messages();
    events.push_back(end_of(Direction::send, 0, 1, 7, 5));
    for (EventRow e : two_messages()) {
        e.iteration = 1;
        events.push_back(e);
    }
    for (const std::size_t length : {1U, 2U, 3U, 9U}) {
        CausalityCheck check{error};
        for (std::size_t at = 0; at < events.size(); at += length)
            check.add(std::span{events}.subspan(at, std::min(length, events.size() - at)));
        EXPECT_EQ(check.found().pairs, 4);
        EXPECT_EQ(check.found().decisive, 4);
        EXPECT_EQ(check.found().violations, 0);
    }
}

/// Both signs: one direction or the other becomes impossible.
TEST(Causality, ClockOffByTwoMicroseconds_IsCaught) {
    for (const std::int64_t shift : {-10'000, -2'000, 2'000, 10'000}) {
        const Causality found = check_causality(shifted(two_messages(), 1, shift), error);
        EXPECT_EQ(found.violations, 1) << shift;
        EXPECT_NE(found.first.find("message 0: received"), std::string::npos) << found.first;
    }
    EXPECT_EQ(
        check_causality(shifted(two_messages(), 1, -2'000), error).first,
        "iteration 0, link 0 -> 1, message 0: received 1300 ns before it was sent"
    );
}

TEST(Causality, WithinTheError_NothingIsSaid) {
    for (const std::int64_t shift : {-1'400, 1'400})
        EXPECT_EQ(check_causality(shifted(two_messages(), 1, shift), error).violations, 0) << shift;
}

TEST(Causality, OrderWithinTheError_IsNotDecisive) {
    std::vector<EventRow> events = two_messages();
    events[0].ready_ns = events[0].posted_ns = 4'000;
    const Causality found = check_causality(events, error);
    EXPECT_EQ(found.decisive, 1);
    EXPECT_EQ(found.violations, 0);
}

TEST(Causality, EndsWithoutPartner_AreNoPairs) {
    std::vector<EventRow> events = two_messages();
    events.erase(events.begin());
    events.push_back(end_of(Direction::send, 0, 1, 7, 5));
    EXPECT_EQ(check_causality(events, error).pairs, 1);
    EXPECT_EQ(check_causality({}, error).pairs, 0);
}

}  // namespace
}  // namespace ringscope::bench
