// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/wait.hpp"

#include <sched.h>

#include <ctime>

namespace ringscope::engine::host {

void Waiter::give_up(const Where& where) {
    StuckRecord& record = control_.stuck[static_cast<std::size_t>(rank_)];
    record.peer = where.peer;
    record.step = where.step;
    record.chunk = where.chunk;
    record.slice = where.slice;
    record.for_credit = where.for_credit ? 1 : 0;
    record.valid.store(1, std::memory_order_release);
    control_.abort.store(1, std::memory_order_release);
    throw GaveUp{};
}

void Waiter::relax(std::int64_t round) const {
    constexpr std::int64_t yields = 2000, sleep_ns = 50'000;
    if (!oversubscribed_ || round < yields) {
        sched_yield();
        return;
    }
    const timespec nap{0, sleep_ns};
    nanosleep(&nap, nullptr);
}

}  // namespace ringscope::engine::host
