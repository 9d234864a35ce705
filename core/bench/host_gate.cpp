// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/host_gate.hpp"

#include <sched.h>

#include <algorithm>

#include "base/time.hpp"
#include "engine/host/engine.hpp"

namespace ringscope::bench {

namespace host = engine::host;

namespace {
constexpr std::int32_t before_the_operation = -1;
}

HostGate::HostGate(
    host::Control& control, int rank, int ranks, StartMode mode, host::Waiter waiter, bool oversubscribed,
    std::int64_t clock_offset_ns
)
    : control_{control},
      rank_{rank},
      ranks_{ranks},
      window_{mode == StartMode::window || (mode == StartMode::automatic && !oversubscribed)},
      waiter_{waiter},
      clock_offset_ns_{clock_offset_ns} {}

template <class Work>
auto HostGate::bounded(Work work) {
    try {
        return work();
    } catch (const host::GaveUp&) {
        throw host::StuckError{host::stuck_message(control_, ranks_, waiter_.limit_ns())};
    }
}

bool HostGate::pass() {
    return bounded([&] {
        if (window_) return window();
        barrier();
        return true;
    });
}

void HostGate::finish() {
    bounded([&] { barrier(); });
}

/// Each rank shows that it has come and looks at the others one by one, so a report can name who is missing.
void HostGate::barrier() {
    const std::uint64_t round = ++rounds_;
    arrival(rank_).store(round, std::memory_order_release);
    for (int peer = 0; peer < ranks_; ++peer) {
        const auto arrived = [&] { return arrival(peer).load(std::memory_order_acquire) >= round; };
        waiter_.wait(arrived, {.peer = peer, .step = before_the_operation});
    }
}

/// Rank 0 announces the start when all have come, so it needs to be ahead by one hop only. A rank that is
/// late says so, and rank 0 announces the next start further ahead.
bool HostGate::window() {
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
    const std::int64_t start = control_.start_ns.load(std::memory_order_relaxed) + clock_offset_ns_;
    if (now_ns() > start) {
        control_.late.store(1, std::memory_order_relaxed);
        return false;
    }
    while (now_ns() < start) {
    }
    return true;
}

std::int64_t HostGate::share(std::int64_t value) {
    return bounded([&] {
        if (rank_ == 0) control_.shared.store(value, std::memory_order_relaxed);
        barrier();
        const std::int64_t shared = control_.shared.load(std::memory_order_relaxed);
        barrier();  // before rank 0 shares the next
        return shared;
    });
}

std::optional<std::string> HostGate::recover(std::int64_t limit_ns) {
    const std::int64_t deadline = now_ns() + limit_ns;
    if (!meet(deadline)) return std::nullopt;
    std::string who_waits = host::describe_stuck(control_, ranks_);
    std::uint64_t rounds = 0;
    for (int rank = 0; rank < ranks_; ++rank) rounds = std::max(rounds, arrival(rank).load());
    if (!meet(deadline)) return std::nullopt;  // all have read both
    begin_anew(rounds);
    if (!meet(deadline)) return std::nullopt;
    return who_waits;
}

/// Not by arrivals, which the abort word ends, and of which some ranks have more than others now.
bool HostGate::meet(std::int64_t deadline_ns) {
    const std::uint64_t meeting = ++meetings_;
    const auto at = [&](int rank) -> std::atomic<std::uint64_t>& {
        return control_.recoveries[static_cast<std::size_t>(rank)].rounds;
    };
    at(rank_).store(meeting, std::memory_order_release);
    for (int peer = 0; peer < ranks_; ++peer) {
        while (at(peer).load(std::memory_order_acquire) < meeting) {
            if (control_.terminated.load() != 0 || now_ns() > deadline_ns) return false;
            sched_yield();
        }
    }
    return control_.terminated.load() == 0;
}

/// Each rank takes back its own record and comes to the same number of rounds; rank 0 what belongs to all.
void HostGate::begin_anew(std::uint64_t rounds) {
    control_.stuck[static_cast<std::size_t>(rank_)].valid.store(0, std::memory_order_relaxed);
    if (rank_ == 0) {
        control_.abort.store(0, std::memory_order_relaxed);
        control_.late.store(0, std::memory_order_relaxed);
    }
    rounds_ = rounds;
    arrival(rank_).store(rounds_, std::memory_order_relaxed);
}

std::atomic<std::uint64_t>& HostGate::arrival(int rank) {
    return control_.arrivals[static_cast<std::size_t>(rank)].rounds;
}

}  // namespace ringscope::bench
