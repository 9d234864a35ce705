// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/connections.hpp"

#include <algorithm>
#include <set>

namespace ringscope::engine::host {
namespace {

using schedule::Message;
using schedule::Op;
using schedule::Plan;
using schedule::Program;

/// The (channel, src) of all connections into `dst`, in the order of their mailboxes in its window.
std::set<std::pair<std::int32_t, std::int32_t>> sources_of(const Plan& plan, std::int32_t dst) {
    std::set<std::pair<std::int32_t, std::int32_t>> sources;
    const Program* program = nullptr;
    for (std::int32_t channel = 0; channel < plan.request.channels; ++channel) {
        program = &plan.programs[static_cast<std::size_t>(channel)][static_cast<std::size_t>(dst)];
        for (const Op& op : program->ops) {
            for (const Message& m : program->recvs(op)) sources.emplace(channel, m.peer);
        }
    }
    return sources;
}

End end_at(std::byte* mailbox, const Plan& plan) {
    End end;
    end.box = reinterpret_cast<Mailbox*>(mailbox);
    end.first_slot = end.box->slots();
    end.slots = static_cast<std::uint64_t>(plan.request.slots);
    end.slot_bytes = plan.request.slot_bytes;
    return end;
}

}  // namespace

Connections::Connections(bootstrap::Bootstrap& bootstrap, const Plan& plan, const SlotsOf& slots_of)
    : rank_{bootstrap.rank()} {
    for (std::int32_t dst = 0; dst < plan.request.ranks; ++dst) sources_.push_back(sources_of(plan, dst));
    const std::int64_t each = Mailbox::bytes(slots_of ? 0 : plan.request.slots, plan.request.slot_bytes);
    const auto& own = sources_[static_cast<std::size_t>(rank_)];
    windows_ = transport::make_windows(bootstrap, static_cast<std::int64_t>(own.size()) * each);
    for (std::int32_t dst = 0; dst < plan.request.ranks; ++dst) {
        std::byte* mailbox = windows_->of(dst);
        for (const auto& [channel, src] : sources_[static_cast<std::size_t>(dst)]) {
            End end = end_at(mailbox, plan);
            if (slots_of) end.first_slot = slots_of(channel, src, dst);
            if (dst == rank_) inboxes_[{channel, src}] = Inbox{end};
            if (src == rank_) outboxes_[{channel, dst}] = Outbox{end};
            mailbox += each;
        }
    }
}

bool Connections::serve(const Plan& plan) const {
    for (std::int32_t dst = 0; dst < plan.request.ranks; ++dst) {
        if (!std::ranges::includes(sources_[static_cast<std::size_t>(dst)], sources_of(plan, dst)))
            return false;
    }
    return true;
}

std::vector<ReadyOp> Connections::make_ready(
    const Plan& plan, std::int32_t reduce_divisor, std::int64_t min_part_bytes
) {
    std::vector<ReadyOp> ops;
    for (std::int32_t channel = 0; channel < plan.request.channels; ++channel) {
        const Program& program =
            plan.programs[static_cast<std::size_t>(channel)][static_cast<std::size_t>(rank_)];
        for (std::size_t i = 0; i < program.ops.size(); ++i) {
            ReadyOp op = ready(plan, channel, program, static_cast<std::int32_t>(i));
            if (op.bytes.size == 0) continue;
            op.parts = schedule::parts_of(plan, op.bytes.size, min_part_bytes);
            op.divisor = program.ops[i].finish ? reduce_divisor : 0;
            ops.push_back(std::move(op));
        }
    }
    return ops;
}

ReadyOp Connections::ready(
    const Plan& plan, std::int32_t channel, const Program& program, std::int32_t index
) {
    const Op& op = program.ops[static_cast<std::size_t>(index)];
    ReadyOp ready{
        .channel = channel, .index = index, .recvs = {}, .sends = {}, .bytes = plan.piece(channel, op)};
    const auto where = [&](const Message& m, bool for_credit) {
        return Where{m.peer, m.step, op.chunk, op.slice, for_credit};
    };
    for (const Message& m : program.recvs(op)) {
        ready.recvs.push_back({&inboxes_.at({channel, m.peer}), where(m, false), m.place});
    }
    for (const Message& m : program.sends(op)) {
        ready.sends.push_back({&outboxes_.at({channel, m.peer}), where(m, true), m.place});
    }
    ready.local_at = op.local == RINGSCOPE_LOCAL_NONE ? -1 : op.local_at;
    ready.local_is_output = op.local == RINGSCOPE_LOCAL_OUTPUT;
    ready.store = op.store;
    return ready;
}

}  // namespace ringscope::engine::host
