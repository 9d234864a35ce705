// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/start_gate.hpp"

#include <algorithm>

#include "base/time.hpp"
#include "engine/host/engine.hpp"

namespace ringscope::bench {

namespace host = engine::host;

namespace {
constexpr std::int32_t before_the_operation = -1;
}

StartGate::StartGate(
    host::Control& control, int rank, int ranks, StartMode mode, host::Waiter waiter, bool oversubscribed
)
    : control_{control},
      rank_{rank},
      ranks_{ranks},
      window_{mode == StartMode::window || (mode == StartMode::automatic && !oversubscribed)},
      waiter_{waiter} {}

bool StartGate::pass() {
    try {
        if (window_) return window();
        barrier();
        return true;
    } catch (const host::GaveUp&) {
        throw host::StuckError{host::stuck_message(control_, ranks_, waiter_.limit_ns())};
    }
}

/// Each rank shows that it has come and looks at the others one by one, so a report can name who is missing.
void StartGate::barrier() {
    const std::uint64_t round = ++rounds_;
    arrival(rank_).store(round, std::memory_order_release);
    for (int peer = 0; peer < ranks_; ++peer) {
        const auto arrived = [&] { return arrival(peer).load(std::memory_order_acquire) >= round; };
        waiter_.wait(arrived, {.peer = peer, .step = before_the_operation});
    }
}

/// Rank 0 announces the start when all have come, so it needs to be ahead by one hop only. A rank that is
/// late says so, and rank 0 announces the next start further ahead.
bool StartGate::window() {
    constexpr std::int64_t longest_lead_ns = 5'000'000;
    barrier();
    const std::uint64_t round = ++rounds_;
    if (rank_ == 0) {
        if (control_.late.exchange(0, std::memory_order_relaxed) != 0)
            lead_ns_ = std::min(2 * lead_ns_, longest_lead_ns);
        control_.start_ns.store(now_ns() + lead_ns_, std::memory_order_relaxed);
    }
    arrival(rank_).store(round, std::memory_order_release);
    const auto announced = [&] { return arrival(0).load(std::memory_order_acquire) >= round; };
    waiter_.wait(announced, {.peer = 0, .step = before_the_operation});
    const std::int64_t start = control_.start_ns.load(std::memory_order_relaxed);
    if (now_ns() > start) {
        control_.late.store(1, std::memory_order_relaxed);
        return false;
    }
    while (now_ns() < start) {
    }
    return true;
}

std::atomic<std::uint64_t>& StartGate::arrival(int rank) {
    return control_.arrivals[static_cast<std::size_t>(rank)].rounds;
}

}  // namespace ringscope::bench
