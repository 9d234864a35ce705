// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/layout.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "base/error.hpp"

namespace ringscope::engine::cuda {
namespace {

using schedule::Plan;
using schedule::Program;

const Program& program_of(const Plan& plan, std::int32_t channel, std::int32_t rank) {
    return plan.programs[static_cast<std::size_t>(channel)][static_cast<std::size_t>(rank)];
}

std::vector<EndKey> keys_of(const Program& program) {
    std::set<std::pair<bool, std::int32_t>> keys;
    for (const schedule::Op& op : program.ops) {
        for (const schedule::Message& m : program.recvs(op)) keys.emplace(false, m.peer);
        for (const schedule::Message& m : program.sends(op)) keys.emplace(true, m.peer);
    }
    std::vector<EndKey> ends;
    for (const auto& [sends, peer] : keys) ends.push_back({peer, sends});
    return ends;
}

constexpr std::int64_t whole(std::int64_t bytes, std::int64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

void check_room(std::size_t has, int room, const char* what) {
    if (has <= static_cast<std::size_t>(room)) return;
    throw Error{
        ExitCode::unusable_engine, "the engines on GPUs have room for " + std::to_string(room) + " " + what +
                                       ", this schedule has " + std::to_string(has)};
}

/// Builds the image of one channel.
class ChannelImage {
 public:
    ChannelImage(
        const Plan& plan, const Layout& layout, const ImageRequest& request, std::int32_t channel,
        Image& image
    )
        : plan_{plan},
          layout_{layout},
          request_{request},
          channel_{channel},
          image_{image},
          keys_{layout.ends_of(request.rank, channel)} {}

    [[nodiscard]] std::vector<std::byte> make() {
        const Program& program = program_of(plan_, channel_, request_.rank);
        for (const EndKey& key : keys_) ends_.push_back(end(key));
        for (std::size_t i = 0; i < program.ops.size(); ++i) add(program, static_cast<std::int32_t>(i));
        for (const End& end : ends_)
            image_.fits_twice = image_.fits_twice && 2 * end.total <= plan_.request.slots;
        return bytes();
    }

 private:
    [[nodiscard]] End end(EndKey key) const {
        const std::int32_t rank = request_.rank;
        std::byte* peer = request_.memory[static_cast<std::size_t>(key.peer)];
        std::byte* own = request_.memory[static_cast<std::size_t>(rank)];
        End end;
        end.slots = key.sends ? peer + layout_.slots_at(key.peer, channel_, rank)
                              : own + layout_.slots_at(rank, channel_, key.peer);
        end.posts_to = reinterpret_cast<std::uint64_t*>(
            peer + layout_.counter_at(key.peer, channel_, {rank, !key.sends})
        );
        end.distance = peer - own;
        end.peer = key.peer;
        return end;
    }

    void add(const Program& program, std::int32_t index) {
        const schedule::Op& from = program.ops[static_cast<std::size_t>(index)];
        const schedule::Range range = plan_.piece(channel_, from);
        if (range.size == 0) return;
        Op op;
        op.begin = range.begin;
        op.size = range.size;
        op.slice = from.slice;
        op.chunk = from.chunk;
        op.divisor = from.finish ? request_.divisor : 0;
        op.parts = static_cast<std::int32_t>(schedule::parts_of(plan_, range.size, request_.min_part_bytes));
        op.row = static_cast<std::int32_t>(image_.rows.size());
        op.recvs = static_cast<std::int16_t>(from.recv_count);
        op.sends = static_cast<std::int16_t>(from.send_count);
        op.local_at = static_cast<std::int8_t>(from.local == RINGSCOPE_LOCAL_NONE ? -1 : from.local_at);
        op.local_is_output = from.local == RINGSCOPE_LOCAL_OUTPUT ? 1 : 0;
        const auto recvs = program.recvs(from), sends = program.sends(from);
        const bool is_there = recvs.size() == 1 && place_of(recvs.front()) == schedule::Place::output;
        const bool is_moved = std::ranges::any_of(sends, [&](const schedule::Message& m) {
            return place_of(m) != schedule::Place::input;
        });
        op.store = from.store && !is_there ? 1 : 0;
        op.moves = op.store != 0 || is_moved ? 1 : 0;
        put(&op, sizeof(op));
        add_ports(recvs, false, index, op.parts);
        add_ports(sends, true, index, op.parts);
        records_.resize(whole(std::ssize(records_), image_.record_stride));
        ++count_;
        parts_ += op.parts;
    }

    [[nodiscard]] schedule::Place place_of(const schedule::Message& message) const {
        return request_.within_reach ? message.place : schedule::Place::slot;
    }

    void add_ports(
        std::span<const schedule::Message> messages, bool sends, std::int32_t op, std::int32_t parts
    ) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            const EndKey key{messages[i].peer, sends};
            const auto index = static_cast<std::size_t>(std::ranges::find(keys_, key) - keys_.begin());
            const Port port{
                static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(messages[i].step),
                ends_[index].total, static_cast<std::uint32_t>(ends_[index].total % plan_.request.slots),
                place_of(messages[i])};
            ends_[index].total += static_cast<std::uint32_t>(parts);
            put(&port, sizeof(port));
            image_.rows.push_back(
                {channel_, op, static_cast<std::int32_t>(i),
                 sends ? trace::Direction::send : trace::Direction::recv}
            );
        }
    }

    void put(const void* data, std::size_t size) {
        const auto* bytes = static_cast<const std::byte*>(data);
        records_.insert(records_.end(), bytes, bytes + size);
    }

    [[nodiscard]] std::vector<std::byte> bytes() const {
        ChannelHead head;
        head.ends = static_cast<std::int32_t>(ends_.size());
        head.records = count_;
        head.parts = parts_;
        head.receiving_ends = static_cast<std::int32_t>(std::ranges::count(keys_, false, &EndKey::sends));
        std::vector<std::byte> bytes(static_cast<std::size_t>(image_.records_at));
        std::memcpy(bytes.data(), &head, sizeof(head));
        if (!ends_.empty())
            std::memcpy(bytes.data() + sizeof(head), ends_.data(), ends_.size() * sizeof(End));
        bytes.insert(bytes.end(), records_.begin(), records_.end());
        return bytes;
    }

    const Plan& plan_;
    const Layout& layout_;
    const ImageRequest& request_;
    std::int32_t channel_;
    Image& image_;
    const std::vector<EndKey>& keys_;
    std::vector<End> ends_;
    std::vector<std::byte> records_;
    std::int32_t count_ = 0, parts_ = 0;
};

}  // namespace

Layout::Layout(const Plan& plan)
    : inbox_bytes_{whole(plan.request.slots * plan.request.slot_bytes, counter_stride)} {
    for (const auto& programs : plan.programs) {
        keys_.emplace_back();
        for (const Program& program : programs) {
            const std::vector<EndKey> keys = keys_of(program);
            ends_ = std::max(ends_, static_cast<std::int32_t>(keys.size()));
            inboxes_ = std::max(inboxes_, std::int64_t{std::ranges::count(keys, false, &EndKey::sends)});
            keys_.back().push_back(keys);
        }
    }
    const auto channels = std::ssize(keys_);
    slots_begin_ = whole(channels * ends_ * counter_stride, 4096);
    bytes_ = slots_begin_ + whole(channels * inboxes_ * inbox_bytes_, 4096);
}

std::int64_t Layout::index_of(std::int32_t rank, std::int32_t channel, EndKey end) const {
    const std::vector<EndKey>& keys = ends_of(rank, channel);
    return std::ranges::find(keys, end) - keys.begin();
}

std::int64_t Layout::counter_at(std::int32_t rank, std::int32_t channel, EndKey end) const {
    return (channel * std::int64_t{ends_} + index_of(rank, channel, end)) * counter_stride;
}

/// Receiving ends come first, so that their index is also that of their slots.
std::int64_t Layout::slots_at(std::int32_t rank, std::int32_t channel, std::int32_t peer) const {
    return slots_begin_ + (channel * inboxes_ + index_of(rank, channel, {peer, false})) * inbox_bytes_;
}

std::size_t most_messages(const Plan& plan) {
    std::size_t most = 0;
    for (const auto& programs : plan.programs) {
        for (const Program& program : programs) {
            for (const schedule::Op& op : program.ops)
                most = std::max(most, static_cast<std::size_t>(op.recv_count + op.send_count));
        }
    }
    check_room(most, most_ports, "messages per op");
    return most;
}

Image make_image(const Plan& plan, const Layout& layout, const ImageRequest& request) {
    const std::size_t messages = most_messages(plan);
    check_room(static_cast<std::size_t>(layout.ends()), most_ends, "connections per rank and channel");
    Image image;
    image.records_at = static_cast<std::int32_t>(sizeof(ChannelHead) + layout.ends() * sizeof(End));
    image.record_stride =
        static_cast<std::int32_t>(whole(static_cast<std::int64_t>(sizeof(Op) + messages * sizeof(Port)), 16));
    std::vector<std::vector<std::byte>> channels;
    for (std::int32_t channel = 0; channel < plan.request.channels; ++channel) {
        channels.push_back(ChannelImage{plan, layout, request, channel, image}.make());
        image.stride = std::max(image.stride, static_cast<std::int64_t>(channels.back().size()));
    }
    image.window = window_bytes / image.record_stride;
    image.first_bytes = static_cast<std::int32_t>(
        std::min<std::int64_t>(image.stride, image.records_at + image.window * image.record_stride)
    );
    for (auto& channel : channels) {
        channel.resize(static_cast<std::size_t>(image.stride));
        image.bytes.insert(image.bytes.end(), channel.begin(), channel.end());
    }
    return image;
}

void complete_rows(std::span<Row> rows, std::span<const RowInfo> infos) {
    for (std::size_t i = 0, first = 0; i < rows.size(); ++i) {
        if (infos[i].channel != infos[first].channel || infos[i].op != infos[first].op) first = i;
        const Row op = rows[first];
        const std::int64_t ready = rows[i].ready == 0 ? op.begin : rows[i].ready;
        rows[i] = {op.begin, ready, ready, op.end, ready - op.begin, op.payload, op.wire};
    }
}

}  // namespace ringscope::engine::cuda
