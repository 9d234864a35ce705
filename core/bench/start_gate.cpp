// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/start_gate.hpp"

#include <algorithm>

#include "base/time.hpp"

namespace ringscope::bench {

namespace host = engine::host;

StartGate::StartGate(
    host::Control& control, int rank, int ranks, StartMode mode, host::Waiter waiter, bool oversubscribed
)
    : control_{control}, rank_{rank}, ranks_{ranks},
      window_{mode == StartMode::window || (mode == StartMode::automatic && !oversubscribed)}, waiter_{waiter} {}

bool StartGate::pass() {
    if (window_) return window();
    barrier();
    return true;
}

void StartGate::barrier() {
    const std::uint64_t round = ++rounds_;
    const auto everybody = static_cast<std::uint64_t>(ranks_) * round;
    if (control_.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == everybody) {
        control_.opened.store(round, std::memory_order_release);
    }
    waiter_.wait(
        [&] { return control_.opened.load(std::memory_order_acquire) >= round; },
        {.peer = rank_ == 0 ? ranks_ - 1 : 0, .step = -1, .chunk = -1}
    );
}

/// The announcement follows a barrier, so that it needs to be ahead by one hop only. A late rank says so, and rank 0 then
/// announces the next start further ahead.
bool StartGate::window() {
    constexpr std::int64_t longest_lead_ns = 5'000'000;
    barrier();
    const std::uint64_t round = ++rounds_;
    if (rank_ == 0) {
        if (control_.late.exchange(0, std::memory_order_relaxed) != 0) lead_ns_ = std::min(2 * lead_ns_, longest_lead_ns);
        control_.arrived.fetch_add(static_cast<std::uint64_t>(ranks_), std::memory_order_acq_rel);
        control_.start_ns.store(now_ns() + lead_ns_, std::memory_order_relaxed);
        control_.opened.store(round, std::memory_order_release);
    } else {
        waiter_.wait(
            [&] { return control_.opened.load(std::memory_order_acquire) >= round; },
            {.peer = 0, .step = -1, .chunk = -1}
        );
    }
    const std::int64_t start = control_.start_ns.load(std::memory_order_relaxed);
    if (now_ns() > start) {
        control_.late.store(1, std::memory_order_relaxed);
        return false;
    }
    while (now_ns() < start) {
    }
    return true;
}

}  // namespace ringscope::bench
