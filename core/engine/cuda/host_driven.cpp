// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/host_driven.hpp"

#include <algorithm>

#include "engine/cuda/layout.hpp"
#include "engine/host/engine.hpp"
#include "engine/host/simple.hpp"

namespace ringscope::engine::cuda {
namespace {

/// Whatever a slot's size, it begins aligned.
constexpr std::int64_t slot_alignment = 128;

}  // namespace

SenderSlots::SenderSlots(const schedule::Plan& plan) {
    const std::int64_t each =
        (plan.request.slots * plan.request.slot_bytes + slot_alignment - 1) / slot_alignment * slot_alignment;
    for (std::int32_t src = 0; src < plan.request.ranks; ++src) {
        std::int64_t next = 0;
        for (std::int32_t channel = 0; channel < plan.request.channels; ++channel) {
            const schedule::Program& program =
                plan.programs[static_cast<std::size_t>(channel)][static_cast<std::size_t>(src)];
            for (const schedule::Op& op : program.ops) {
                for (const schedule::Message& m : program.sends(op)) {
                    if (at_.try_emplace({channel, src, m.peer}, next).second) next += each;
                }
            }
        }
        bytes_ = std::max(bytes_, next);
    }
}

HostDriven::HostDriven(
    host::Control& control, std::unique_ptr<host::Connections> connections, const schedule::Plan& plan,
    const HostDrivenOptions& options, std::shared_ptr<const ringscope::cuda::Stream> own_stream
)
    : StreamCollective{Mode::isolated, std::move(own_stream)},
      control_{control},
      ranks_{plan.request.ranks},
      options_{options},
      kernel_{kernels_of(options.dtype).move},
      connections_{std::move(connections)},
      ops_{connections_->make_ready(
          plan, options.op == ReduceOp::avg ? static_cast<std::int32_t>(plan.members.size()) : 0, 1
      )},
      waiter_{control, options.rank, options.wait_ns, options.oversubscribed},
      trace_{ops_} {
    (void)most_messages(plan);  // a kernel has room for so many
}

void HostDriven::enqueue(const Operation& operation) {
    host::NoProbe none;
    play(operation, none);
}

void HostDriven::arm(std::span<const Operation>, EventLog* traced) {
    if (traced != nullptr) trace_.start(*traced, 1);
}

Timing HostDriven::sample_traced(std::span<const Operation> operations, EventLog&) {
    Timing timing = timed([&] {
        (void)trace_.enter();
        play(operations.front(), trace_);
        (void)trace_.leave();
    });
    timing.events_error_ns = trace_.finish();
    return timing;
}

template <class Probe>
void HostDriven::play(const Operation& operation, Probe& probe) {
    try {
        for (const host::ReadyOp& op : ops_) {
            probe.begin(op);
            host::Simple::play_parts(op, waiter_, probe, [&](schedule::Range range) {
                move(op, range, operation);
                return true;
            });
            probe.end();
        }
    } catch (const host::GaveUp&) {
        throw host::StuckError{host::stuck_message(control_, ranks_, options_.wait_ns)};
    }
}

/// One kernel, and the stream is waited for: what was stored must be there before it is announced, and what
/// was read before its slot is given back.
void HostDriven::move(const host::ReadyOp& op, schedule::Range range, const Operation& operation) const {
    constexpr std::int64_t late_ns = 20'000'000;
    Move m{.bytes = range.size, .reduction = static_cast<std::int32_t>(options_.op), .divisor = op.divisor};
    for (std::size_t i = 0; i <= op.recvs.size(); ++i) {
        if (static_cast<std::int32_t>(i) == op.local_at)
            m.add_source((op.local_is_output ? operation.output : operation.input) + range.begin);
        if (i < op.recvs.size()) m.add_source(op.recvs[i].end->slot());
    }
    if (op.store) m.add_destination(operation.output + range.begin);
    if (options_.fault != LoopFault::unpublished) {
        for (const auto& send : op.sends) m.add_destination(send.end->slot());
    }
    const bool unsynchronised = options_.fault == LoopFault::unsynchronised;
    if (unsynchronised && options_.rank == 0) launch_delay(late_ns, stream());
    launch_move(kernel_, m, stream());
    if (!unsynchronised) stream().synchronize();
}

}  // namespace ringscope::engine::cuda
