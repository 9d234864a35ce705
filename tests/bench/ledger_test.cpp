// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringscope::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Two ranks: 0 -> 1 carries 100 bytes, 1 -> 0 carries 60, twice as much on the wire.
PreparedCase two_links() {
    PreparedCase prepared;
    prepared.declared = {schedule::LinkBytes{2}, schedule::LinkBytes{2}};
    prepared.closed_form = schedule::LinkBytes{2};
    for (const auto& [src, dst, bytes] : {std::tuple{0, 1, 100}, {1, 0, 60}}) {
        prepared.declared->payload.at(src, dst) = bytes;
        prepared.declared->wire.at(src, dst) = 2 * bytes;
        prepared.closed_form->at(src, dst) = bytes;
    }
    return prepared;
}

trace::EventRow event(
    std::int64_t iteration, int rank, int peer, trace::Direction direction, std::int64_t bytes
) {
    return {
        .iteration = iteration,
        .rank = rank,
        .direction = direction,
        .peer = peer,
        .payload_bytes = bytes,
        .wire_bytes = 2 * bytes};
}

/// Both ends of both links; 0 -> 1 in two messages.
std::vector<trace::EventRow> iteration_of(std::int64_t iteration) {
    std::vector<trace::EventRow> events;
    for (const auto& [src, dst, bytes] : {std::tuple{0, 1, 64}, {0, 1, 36}, {1, 0, 60}}) {
        events.push_back(event(iteration, src, dst, trace::Direction::send, bytes));
        events.push_back(event(iteration, dst, src, trace::Direction::recv, bytes));
    }
    return events;
}

TracedTraffic traced(const std::vector<trace::EventRow>& events) {
    TracedTraffic traffic;
    traffic.add(events);
    return traffic;
}

TEST(Ledger, AllAgree_NoDifferences) {
    std::vector<trace::EventRow> events = iteration_of(3);
    for (const auto& e : iteration_of(4)) events.push_back(e);
    const Ledger ledger = make_ledger(7, two_links(), traced(events), 1, false);
    EXPECT_THAT(ledger.differences, IsEmpty());
    ASSERT_EQ(ledger.rows.size(), 2U);
    const trace::TrafficRow& row = ledger.rows[0];
    EXPECT_EQ(row.case_index, 7);
    EXPECT_EQ(row.src, 0);
    EXPECT_EQ(row.dst, 1);
    EXPECT_EQ(row.declared_payload, 100);
    EXPECT_EQ(row.declared_wire, 200);
    EXPECT_EQ(row.traced_payload, 100);
    EXPECT_EQ(row.traced_wire, 200);
    EXPECT_EQ(row.closed_form, 100);
}

TEST(Ledger, SampleOfSeveralOperations_HoldsAsManyTimesTheBytes) {
    std::vector<trace::EventRow> events;
    for (int operation = 0; operation < 3; ++operation) {
        for (const auto& e : iteration_of(3)) events.push_back(e);
    }
    const Ledger ledger = make_ledger(0, two_links(), traced(events), 3, false);
    EXPECT_THAT(ledger.differences, IsEmpty());
    EXPECT_EQ(ledger.rows[0].traced_payload, 100);
    EXPECT_THAT(make_ledger(0, two_links(), traced(events), 2, false).differences, Not(IsEmpty()));
}

/// Slices of any length, as they come from the ranks.
TEST(Ledger, FedSliceBySlice_IsTheSame) {
    std::vector<trace::EventRow> events = iteration_of(3);
    for (const auto& e : iteration_of(4)) events.push_back(e);
    for (const std::size_t length : {1U, 5U, 11U}) {
        TracedTraffic traffic;
        for (std::size_t at = 0; at < events.size(); at += length)
            traffic.add(std::span{events}.subspan(at, std::min(length, events.size() - at)));
        const Ledger ledger = make_ledger(7, two_links(), traffic, 1, false);
        EXPECT_THAT(ledger.differences, IsEmpty());
        EXPECT_EQ(ledger.rows.at(0).traced_payload, 100);
    }
}

TEST(Ledger, RowOff16_NamesLinkIterationAndBoth) {
    std::vector<trace::EventRow> events = iteration_of(3);
    for (const auto& e : iteration_of(4)) events.push_back(e);
    events[6].payload_bytes += 16;
    const Ledger ledger = make_ledger(0, two_links(), traced(events), 1, false);
    EXPECT_THAT(ledger.differences, ElementsAre("link 0 -> 1: sent bytes in iteration 4 116, declared 100"));
    EXPECT_EQ(ledger.rows[0].traced_payload, 116);
}

TEST(Ledger, ReceiverOff16_IsSeenThoughTheSenderAgrees) {
    std::vector<trace::EventRow> events = iteration_of(0);
    events[1].payload_bytes -= 16;
    EXPECT_THAT(
        make_ledger(0, two_links(), traced(events), 1, false).differences,
        ElementsAre("link 0 -> 1: received bytes in iteration 0 84, declared 100")
    );
}

TEST(Ledger, WireOff8_IsSeenThoughThePayloadAgrees) {
    std::vector<trace::EventRow> events = iteration_of(0);
    events[4].wire_bytes += 8;
    EXPECT_THAT(
        make_ledger(0, two_links(), traced(events), 1, false).differences,
        ElementsAre("link 1 -> 0: sent wire bytes in iteration 0 128, declared 120")
    );
}

TEST(Ledger, MessageLost_IsSeen) {
    std::vector<trace::EventRow> events = iteration_of(0);
    events.erase(events.begin());
    EXPECT_THAT(
        make_ledger(0, two_links(), traced(events), 1, false).differences,
        ElementsAre(HasSubstr("sent bytes in iteration 0 36"), HasSubstr("sent wire bytes in iteration 0 72"))
    );
}

TEST(Ledger, LinkThatNobodyDeclared_GetsARowAndADifference) {
    PreparedCase prepared = two_links();
    for (auto* bytes : {&prepared.declared->payload, &prepared.declared->wire, &*prepared.closed_form})
        bytes->at(1, 0) = 0;
    const Ledger ledger = make_ledger(0, prepared, traced(iteration_of(0)), 1, false);
    ASSERT_EQ(ledger.rows.size(), 2U);
    EXPECT_EQ(ledger.rows[1].traced_payload, 60);
    EXPECT_EQ(ledger.differences.size(), 4U);
}

TEST(Ledger, ClosedFormOff16_IsSeenWithoutATrace) {
    PreparedCase prepared = two_links();
    prepared.closed_form->at(0, 1) += 16;
    const Ledger ledger = make_ledger(0, prepared, {}, 1, false);
    EXPECT_THAT(ledger.differences, ElementsAre("link 0 -> 1: closed form 116, declared 100"));
    EXPECT_EQ(ledger.rows[0].traced_payload, trace::not_available);
}

TEST(Ledger, NoClosedForm_IsNotCompared) {
    PreparedCase prepared = two_links();
    prepared.closed_form.reset();
    const Ledger ledger = make_ledger(0, prepared, traced(iteration_of(0)), 1, false);
    EXPECT_THAT(ledger.differences, IsEmpty());
    EXPECT_EQ(ledger.rows[0].closed_form, trace::not_available);
}

TEST(Ledger, EventsDropped_NoTracedAccount) {
    std::vector<trace::EventRow> events = iteration_of(0);
    events.pop_back();
    const Ledger ledger = make_ledger(0, two_links(), traced(events), 1, true);
    EXPECT_THAT(ledger.differences, IsEmpty());
    EXPECT_EQ(ledger.rows[0].traced_payload, trace::not_available);
}

TEST(Ledger, NotObservable_IsEmpty) {
    const Ledger ledger = make_ledger(0, PreparedCase{}, {}, 1, false);
    EXPECT_THAT(ledger.rows, IsEmpty());
    EXPECT_THAT(ledger.differences, IsEmpty());
}

}  // namespace
}  // namespace ringscope::bench
