// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/legs.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.hpp"

namespace ringscope::engine::cuda {
namespace {

using schedule::Message;
using schedule::Plan;
using schedule::Program;

/// Results that wait for their copies while the next is combined.
constexpr std::int32_t results_in_flight = 4;

/// Staging slots taken in turn; each knows the leg that used it last.
class Staging {
 public:
    Staging(std::int32_t first, std::int32_t count)
        : first_{first}, users_(static_cast<std::size_t>(count), -1) {}

    std::int32_t take() {
        last_ = (last_ + 1) % static_cast<std::int32_t>(users_.size());
        return first_ + last_;
    }
    [[nodiscard]] std::int32_t user(std::int32_t slot) const {
        return users_[static_cast<std::size_t>(slot - first_)];
    }
    void set_user(std::int32_t slot, std::int32_t leg) {
        users_[static_cast<std::size_t>(slot - first_)] = leg;
    }

 private:
    std::int32_t first_, last_ = -1;
    std::vector<std::int32_t> users_;
};

class Builder {
 public:
    Builder(const Plan& plan, const Layout& layout, const ImageRequest& request, std::int32_t most_received)
        : plan_{plan},
          layout_{layout},
          request_{request},
          received_{0, 2 * most_received + 2},
          results_{2 * most_received + 2, results_in_flight} {
        legs_.staging_slots = 2 * most_received + 2 + results_in_flight;
    }

    [[nodiscard]] Legs make() {
        for (std::int32_t channel = 0; channel < plan_.request.channels; ++channel) add_channel(channel);
        return std::move(legs_);
    }

 private:
    using Key = std::pair<std::int32_t, EndKey>;  // channel

    void add_channel(std::int32_t channel) {
        const Program& program =
            plan_.programs[static_cast<std::size_t>(channel)][static_cast<std::size_t>(request_.rank)];
        for (const EndKey& key : layout_.ends_of(request_.rank, channel)) add_link(channel, key);
        for (std::size_t i = 0; i < program.ops.size(); ++i)
            add_op(channel, program, static_cast<std::int32_t>(i));
    }

    void add_link(std::int32_t channel, EndKey key) {
        const std::int32_t own = request_.rank;
        links_[{channel, key}] = static_cast<std::int32_t>(legs_.links.size());
        legs_.links.push_back(
            {.channel = channel,
             .peer = key.peer,
             .sends = key.sends,
             .counter_at = layout_.counter_at(own, channel, key),
             .posts_at = layout_.counter_at(key.peer, channel, {own, !key.sends}),
             .slots_at = key.sends ? layout_.slots_at(key.peer, channel, own)
                                   : layout_.slots_at(own, channel, key.peer)}
        );
    }

    void add_op(std::int32_t channel, const Program& program, std::int32_t index) {
        const schedule::Op& op = program.ops[static_cast<std::size_t>(index)];
        const schedule::Range bytes = plan_.piece(channel, op);
        if (bytes.size == 0) return;
        const auto row = static_cast<std::int32_t>(legs_.rows.size());
        for (std::int32_t i = 0; i < op.recv_count; ++i)
            legs_.rows.push_back({channel, index, i, trace::Direction::recv});
        for (std::int32_t i = 0; i < op.send_count; ++i)
            legs_.rows.push_back({channel, index, i, trace::Direction::send});
        const std::int64_t parts = schedule::parts_of(plan_, bytes.size, request_.min_part_bytes);
        for (std::int64_t part = 0; part < parts; ++part)
            add_part({channel, program, op, schedule::cut(bytes, parts, part), row, part == 0});
    }

    struct Part {
        std::int32_t channel;
        const Program& program;
        const schedule::Op& op;
        schedule::Range bytes;
        std::int32_t row;  ///< of the op's first message
        bool first;
    };

    void add_part(const Part& part) {
        Combine combine{
            .bytes = part.bytes,
            .staged = {},
            .local_at = part.op.local == RINGSCOPE_LOCAL_NONE ? -1 : part.op.local_at,
            .local_is_output = part.op.local == RINGSCOPE_LOCAL_OUTPUT,
            .store = part.op.store,
            .divisor = part.op.finish ? request_.divisor : 0};
        std::int32_t row = part.row, fetched = -1;
        for (const Message& m : part.program.recvs(part.op)) {
            combine.staged.push_back(received_.take());
            fetched = receive(part, m, row++, combine.staged.back());
        }
        if (part.op.send_count > 0) combine.result = results_.take();
        const std::int32_t combined = add_combine(combine, fetched);
        for (const Message& m : part.program.sends(part.op)) send(part, m, row++, combine.result, combined);
    }

    /// Gives the leg that fetches.
    std::int32_t receive(const Part& part, const Message& m, std::int32_t row, std::int32_t staging) {
        Leg leg = message(part, m, false, row);
        add(leg, Work::await);
        leg.staging = staging;
        leg.after[0] = received_.user(staging);
        const std::int32_t fetched = add(leg, Work::fetch);
        leg.after[0] = -1;
        add(leg, Work::post);
        return fetched;
    }

    void send(
        const Part& part, const Message& m, std::int32_t row, std::int32_t staging, std::int32_t combined
    ) {
        Leg leg = message(part, m, true, row);
        add(leg, Work::await);
        leg.staging = staging;
        leg.after[0] = combined;
        results_.set_user(staging, add(leg, Work::put));
        leg.after[0] = -1;
        add(leg, Work::post);
    }

    /// A lane is in order, so the last fetch stands for all of them, and the last put of a result likewise.
    std::int32_t add_combine(const Combine& combine, std::int32_t fetched) {
        Leg leg{.lane = Lane::compute, .index = static_cast<std::int32_t>(legs_.combines.size())};
        leg.after = {fetched, combine.result < 0 ? -1 : results_.user(combine.result)};
        leg.bytes = combine.bytes.size;
        const std::int32_t combined = add(leg, Work::combine);
        for (const std::int32_t slot : combine.staged) received_.set_user(slot, combined);
        legs_.combines.push_back(combine);
        return combined;
    }

    /// What the three legs of a message have in common.
    [[nodiscard]] Leg message(const Part& part, const Message& m, bool sends, std::int32_t row) {
        const std::int32_t link = links_.at({part.channel, {m.peer, sends}});
        return {
            .lane = sends ? Lane::send : Lane::receive,
            .index = link,
            .number = ++legs_.links[static_cast<std::size_t>(link)].total,
            .bytes = part.bytes.size,
            .row = row,
            .first_part = part.first,
            .where = {m.peer, m.step, part.op.chunk, part.op.slice, sends}};
    }

    std::int32_t add(Leg leg, Work work) {
        leg.work = work;
        legs_.legs.push_back(leg);
        return static_cast<std::int32_t>(legs_.legs.size()) - 1;
    }

    const Plan& plan_;
    const Layout& layout_;
    const ImageRequest& request_;
    std::map<Key, std::int32_t> links_;
    Staging received_, results_;
    Legs legs_;
};

std::int32_t most_received(const Plan& plan, std::int32_t rank) {
    std::int32_t most = 0;
    for (const auto& programs : plan.programs) {
        for (const schedule::Op& op : programs[static_cast<std::size_t>(rank)].ops)
            most = std::max(most, op.recv_count);
    }
    return most;
}

}  // namespace

Legs make_legs(const Plan& plan, const Layout& layout, const ImageRequest& request) {
    (void)most_messages(plan);
    return Builder{plan, layout, request, most_received(plan, request.rank)}.make();
}

}  // namespace ringscope::engine::cuda
