// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/watchdog.hpp"

#include <chrono>
#include <utility>

#include "base/time.hpp"

namespace ringscope::bench {

Watchdog::Watchdog(Expired expired) : expired_{std::move(expired)}, thread_{[this] { watch(); }} {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Watchdog::enter(const std::string& reason, std::int64_t limit_ns) {
    const std::lock_guard lock{mutex_};
    reason_ = reason;
    deadline_ns_ = now_ns() + limit_ns;
    changed_.notify_all();
}

void Watchdog::leave() {
    const std::lock_guard lock{mutex_};
    deadline_ns_ = 0;
}

void Watchdog::watch() {
    std::unique_lock lock{mutex_};
    while (!stopping_) {
        if (deadline_ns_ == 0) {
            changed_.wait(lock);
            continue;
        }
        const std::int64_t left = deadline_ns_ - now_ns();
        if (left > 0) {
            changed_.wait_for(lock, std::chrono::nanoseconds{left});
            continue;
        }
        deadline_ns_ = 0;
        const std::string reason = reason_;
        lock.unlock();
        expired_(reason);
        lock.lock();
    }
}

}  // namespace ringscope::bench
