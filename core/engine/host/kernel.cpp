// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/kernel.hpp"

#include <sched.h>

namespace ringscope::engine::host {

KernelCollective::KernelCollective(
    bootstrap::Bootstrap& bootstrap, HostEngine& engine, const ringscope_host_kernel& kernel,
    const ringscope_kernel_request& request
)
    : engine_{engine},
      table_{kernel},
      request_{request},
      windows_{transport::make_windows(bootstrap, kernel.window_bytes(&request))},
      waiter_{engine.control(), request.rank, engine.options().wait_ns, engine.options().oversubscribed},
      kernel_{nullptr, kernel.destroy} {
    for (std::int32_t rank = 0; rank < request.ranks; ++rank) addresses_.push_back(windows_->of(rank));
    patience_.waiter = &waiter_;
    patience_.limit_ns = engine.options().wait_ns;
    request_.windows = addresses_.data();
    request_.wait = &patience_;
    request_.keep_waiting = keep_waiting;
    bootstrap::agree(bootstrap, [&] {
        void* made = nullptr;
        if (table_.create(&request_, &made) != RINGSCOPE_OK)
            throw Error{ExitCode::internal, "the plugin could not create its kernel"};
        kernel_.reset(made);
    });
}

void KernelCollective::run(const std::byte* input, std::byte* output) {
    patience_.deadline_ns = 0;
    patience_.peer = -1;
    patience_.over = false;
    if (table_.execute(kernel_.get(), input, output) == RINGSCOPE_OK) return;
    if (!patience_.over) throw Error{ExitCode::internal, "the plugin's kernel failed"};
    try {
        waiter_.give_up({.peer = patience_.peer, .step = -1, .chunk = -1});
    } catch (const GaveUp&) {
        throw StuckError{stuck_message(engine_.control(), request_.ranks, patience_.limit_ns)};
    }
}

/// The clock is read, and the core given away, only now and then. Time runs anew for another peer.
std::int32_t KernelCollective::keep_waiting(void* self, std::int32_t peer) {
    constexpr std::int64_t polls_between_looks = 256;
    auto& patience = *static_cast<Patience*>(self);
    if (patience.peer != peer) patience.deadline_ns = 0;
    patience.peer = peer;
    if (++patience.polls % polls_between_looks != 0) return 1;
    sched_yield();
    const std::int64_t now = now_ns();
    if (patience.deadline_ns == 0) patience.deadline_ns = now + patience.limit_ns;
    patience.over = patience.waiter->aborted() || now > patience.deadline_ns;
    return patience.over ? 0 : 1;
}

}  // namespace ringscope::engine::host
