// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <tuple>

#include "engine/cuda/engine.hpp"
#include "engine/cuda/layout.hpp"
#include "tests/engine/support.hpp"

// What a kernel of engine cuda-p2p reads, made on the host: no GPU needed.
namespace ringscope::engine::cuda {
namespace {

using host::algorithm_of;
using host::all_algorithms;

constexpr int ranks = 5;
constexpr std::int32_t channels = 3;
constexpr std::int64_t slots = 8;

schedule::Plan plan_of(const std::string& id, std::int64_t bytes) {
    const ringscope_algorithm& algorithm = algorithm_of(id);
    return schedule::make_plan(
        algorithm, {.ranks = ranks,
                    .bytes = bytes,
                    .channels = channels,
                    .slots = slots,
                    .slot_bytes = 4096,
                    .link = CudaEngine::format(static_cast<Protocol>(algorithm.protocol))}
    );
}

/// Arenas that are no memory: their addresses only say whose they are.
std::vector<std::byte*> arenas() {
    std::vector<std::byte*> all;
    for (std::uintptr_t rank = 1; rank <= ranks; ++rank)
        all.push_back(reinterpret_cast<std::byte*>(rank << 40));
    return all;
}

template <class T>
T at(const Image& image, std::int64_t offset) {
    T value;
    std::memcpy(&value, image.bytes.data() + offset, sizeof(T));
    return value;
}

class CudaLayout : public testing::TestWithParam<std::string> {};

/// Both ends of a connection name the same slots, each posts to the counter that the other one reads, take
/// the same number of slots, and no two connections or counters share memory.
TEST_P(CudaLayout, EndsOfAConnection_Agree) {
    const schedule::Plan plan = plan_of(GetParam(), 100'003);
    const Layout layout{plan};
    std::map<std::tuple<int, int, int>, End> senders, receivers;  // channel, src, dst
    std::map<std::byte*, int> slots_used;
    std::map<std::uint64_t*, int> counters_used;
    for (int rank = 0; rank < ranks; ++rank) {
        const Image image = make_image(plan, layout, {.rank = rank, .memory = arenas()});
        for (std::int32_t channel = 0; channel < channels; ++channel) {
            const auto head = at<ChannelHead>(image, channel * image.stride);
            const auto& keys = layout.ends_of(rank, channel);
            ASSERT_EQ(head.ends, std::ssize(keys));
            for (std::int32_t i = 0; i < head.ends; ++i) {
                const auto end = at<End>(
                    image,
                    channel * image.stride + static_cast<std::int64_t>(sizeof(ChannelHead) + i * sizeof(End))
                );
                const EndKey key = keys[static_cast<std::size_t>(i)];
                EXPECT_EQ(end.peer, key.peer);
                EXPECT_EQ(i < head.receiving_ends, !key.sends);
                EXPECT_EQ(++counters_used[end.posts_to], 1);
                if (key.sends) {
                    senders[{channel, rank, key.peer}] = end;
                } else {
                    receivers[{channel, key.peer, rank}] = end;
                    EXPECT_EQ(++slots_used[end.slots], 1);
                }
            }
        }
    }
    ASSERT_EQ(senders.size(), receivers.size());
    for (const auto& [link, sender] : senders) {
        const End& receiver = receivers.at(link);
        EXPECT_EQ(sender.slots, receiver.slots);
        EXPECT_EQ(sender.total, receiver.total);
        // Data are announced at the receiver, credits at the sender.
        const auto [channel, src, dst] = link;
        EXPECT_EQ(
            reinterpret_cast<std::uintptr_t>(sender.posts_to) >> 40, static_cast<std::uintptr_t>(dst + 1)
        );
        EXPECT_EQ(
            reinterpret_cast<std::uintptr_t>(receiver.posts_to) >> 40, static_cast<std::uintptr_t>(src + 1)
        );
    }
    EXPECT_LE(layout.bytes(), std::int64_t{1} << 40);
}

/// The records are the plan's ops that move something, with the plan's bytes; numbers count up per
/// connection.
TEST_P(CudaLayout, Records_AreThePlan) {
    const schedule::Plan plan = plan_of(GetParam(), 40'007);
    const Layout layout{plan};
    for (int rank = 0; rank < ranks; ++rank) {
        const Image image = make_image(plan, layout, {.rank = rank, .memory = arenas()});
        EXPECT_EQ(std::ssize(image.rows), schedule::events_per_operation(plan, rank));
        std::int64_t sent = 0;
        for (std::int32_t channel = 0; channel < channels; ++channel) {
            const auto head = at<ChannelHead>(image, channel * image.stride);
            std::map<int, std::uint32_t> next;
            std::int32_t parts = 0;
            for (std::int32_t k = 0; k < head.records; ++k) {
                const std::int64_t record =
                    channel * image.stride + image.records_at + k * image.record_stride;
                const auto op = at<Op>(image, record);
                parts += op.parts;
                EXPECT_GT(op.size, 0);
                sent += op.size * op.sends;
                for (int p = 0; p < op.recvs + op.sends; ++p) {
                    const auto port =
                        at<Port>(image, record + static_cast<std::int64_t>(sizeof(Op) + p * sizeof(Port)));
                    EXPECT_EQ(port.number, next[port.end]);
                    EXPECT_EQ(port.turn, port.number % slots);
                    next[port.end] += static_cast<std::uint32_t>(op.parts);
                }
            }
            EXPECT_EQ(head.parts, parts);
        }
        EXPECT_EQ(sent, schedule::declared_traffic(plan).payload.sent_by(rank));
    }
}

/// What an op of the plan is left with where user buffers are within reach: a contribution that others read
/// and a result that has come by itself are not moved, and what is passed on from an output still is.
TEST_P(CudaLayout, MessagesInUserBuffers_AreLeftToWhoMovesThem) {
    const schedule::Plan plan = plan_of(GetParam(), 40'007);
    const Layout layout{plan};
    for (int rank = 0; rank < ranks; ++rank) {
        const Image image =
            make_image(plan, layout, {.rank = rank, .memory = arenas(), .within_reach = true});
        const Image apart = make_image(plan, layout, {.rank = rank, .memory = arenas()});
        const schedule::Program& program = plan.programs[0][static_cast<std::size_t>(rank)];
        ASSERT_EQ(at<ChannelHead>(image, 0).records, std::ssize(program.ops));
        for (std::size_t k = 0; k < program.ops.size(); ++k) {
            const schedule::Op& from = program.ops[k];
            const std::int64_t record = image.records_at + static_cast<std::int64_t>(k) * image.record_stride;
            const auto op = at<Op>(image, record), in_slots = at<Op>(apart, record);
            bool has_come = false, is_lent = from.send_count > 0;
            for (int p = 0; p < op.recvs + op.sends; ++p) {
                const auto at_port = record + static_cast<std::int64_t>(sizeof(Op) + p * sizeof(Port));
                const auto message = program.messages[static_cast<std::size_t>(from.first_message + p)];
                const auto port = at<Port>(image, at_port);
                EXPECT_EQ(port.place, message.place);
                EXPECT_EQ(at<Port>(apart, at_port).place, schedule::Place::slot);
                EXPECT_EQ(
                    at<End>(image, static_cast<std::int64_t>(sizeof(ChannelHead) + port.end * sizeof(End)))
                        .distance,
                    (std::int64_t{message.peer} - rank) << 40
                );
                has_come = has_come || (p < op.recvs && message.place == schedule::Place::output);
                is_lent = is_lent && (p < op.recvs || message.place == schedule::Place::input);
            }
            EXPECT_EQ(in_slots.moves, 1);
            EXPECT_EQ(in_slots.store, from.store ? 1 : 0);
            EXPECT_EQ(op.store, from.store && !has_come ? 1 : 0);
            EXPECT_EQ(op.moves, is_lent || (has_come && from.send_count == 0) ? 0 : 1);
        }
    }
}

/// Lines of 128 bytes must not straddle: slots begin at multiples of 128, whatever size was asked for.
TEST(CudaSlots, OfLl128_AreAligned) {
    const schedule::Plan plan = schedule::make_plan(
        algorithm_of("ring-ll128"), {.ranks = ranks,
                                     .bytes = 100'003,
                                     .channels = channels,
                                     .slots = slots,
                                     .slot_bytes = 1040,
                                     .link = CudaEngine::format(Protocol::ll128)}
    );
    const Layout layout{plan};
    EXPECT_EQ(plan.request.slot_bytes, 1024);
    for (std::int32_t channel = 0; channel < channels; ++channel)
        EXPECT_EQ(layout.slots_at(1, channel, 0) % 128, 0);
}

TEST(CudaDefaults, ChannelsOfLl128_GrowWithTheMessageUpToTheMost) {
    const auto channels_of = [](std::int64_t chunk) {
        return CudaEngine::defaults(Protocol::ll128, chunk, 128).channels;
    };
    EXPECT_EQ(channels_of(0), 1);
    EXPECT_EQ(channels_of(32 << 10), 32);
    EXPECT_EQ(channels_of(256 << 10), 32);
    EXPECT_EQ(channels_of(512 << 10), 64);
    EXPECT_EQ(channels_of(64 << 20), 128);
    EXPECT_EQ(CudaEngine::defaults(Protocol::ll128, 512 << 10, 16).channels, 16);
}

/// What complete_rows() must make of the stamps of two ops on one channel and one on another, by hand: the
/// first op sends without waiting; the second receives at 30 and sends at once; the third waited for a
/// credit.
TEST(CudaRows, RowsOfAnOp_ShareWhatItsFirstHas) {
    using trace::Direction;
    const std::vector<RowInfo> infos = {
        {0, 0, 0, Direction::send},
        {0, 1, 0, Direction::recv},
        {0, 1, 0, Direction::send},
        {1, 0, 0, Direction::send}};
    std::vector<Row> rows(4);
    rows[0] = {.begin = 10, .end = 15, .payload = 8, .wire = 16};
    rows[1] = {.begin = 16, .ready = 30, .end = 35, .payload = 24, .wire = 48};
    rows[3] = {.begin = 11, .ready = 40, .end = 44, .payload = 8, .wire = 16};
    complete_rows(rows, infos);
    const std::vector<Row> expected = {
        {10, 10, 10, 15, 0, 8, 16},
        {16, 30, 30, 35, 14, 24, 48},
        {16, 16, 16, 35, 0, 24, 48},
        {11, 40, 40, 44, 29, 8, 16}};
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(std::memcmp(&rows[i], &expected[i], sizeof(Row)), 0) << i;
}

INSTANTIATE_TEST_SUITE_P(All, CudaLayout, testing::ValuesIn(all_algorithms), host::test_name_of_id);

TEST(CudaFormat, WireBytes_AreWholeLines) {
    const schedule::LinkFormat ll = CudaEngine::format(Protocol::ll);
    EXPECT_EQ(ll.wire_bytes(0), 0);
    EXPECT_EQ(ll.wire_bytes(1), 16);
    EXPECT_EQ(ll.wire_bytes(8), 16);
    EXPECT_EQ(ll.wire_bytes(9), 32);
    EXPECT_EQ(CudaEngine::format(Protocol::simple).wire_bytes(9), 9);
    const schedule::LinkFormat ll128 = CudaEngine::format(Protocol::ll128);
    EXPECT_EQ(ll128.wire_bytes(0), 0);
    EXPECT_EQ(ll128.wire_bytes(1), 128);
    EXPECT_EQ(ll128.wire_bytes(120), 128);
    EXPECT_EQ(ll128.wire_bytes(121), 256);
    EXPECT_THROW((void)CudaEngine::format(static_cast<Protocol>(RINGSCOPE_PROTOCOL_COUNT)), Error);
}

}  // namespace
}  // namespace ringscope::engine::cuda
