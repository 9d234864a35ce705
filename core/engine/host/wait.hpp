// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "engine/host/control.hpp"

namespace ringscope::engine::host {

/// Thrown by a wait that ended without what it waited for: the time is up, or another rank gave up.
struct GaveUp {};

/// What is waited for, for the report.
struct Where {
    std::int32_t peer = 0, step = 0, chunk = 0;
    std::int64_t slice = 0;
    bool for_credit = false;
};

/// Bounded waiting: pause, then yield, then (where ranks share cores) short sleeps, with a deadline and an
/// abort word.
class Waiter {
 public:
    Waiter(Control& control, std::int32_t rank, std::int64_t limit_ns, bool oversubscribed)
        : control_{control}, rank_{rank}, limit_ns_{limit_ns}, oversubscribed_{oversubscribed} {}

    /// Returns when `ready()` is true; throws GaveUp, after leaving a record of `where`, when it does not
    /// come true.
    template <class Ready>
    void wait(Ready ready, const Where& where) {
        for (int polls = 0; polls < spins(); ++polls) {
            if (ready()) return;
            pause();
        }
        const std::int64_t deadline = now_ns() + limit_ns_;
        for (std::int64_t round = 0; !ready(); ++round) {
            relax(round);
            if (aborted() || now_ns() > deadline) give_up(where);
        }
    }

    [[nodiscard]] std::int64_t limit_ns() const { return limit_ns_; }
    [[nodiscard]] bool aborted() const { return control_.abort.load(std::memory_order_relaxed) != 0; }

    /// Raises the abort word at all ranks, records where this one stood, and throws.
    [[noreturn]] void give_up(const Where& where);

 private:
    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("isb");
#endif
    }
    /// Spinning on a shared core only keeps the peer from running.
    [[nodiscard]] int spins() const {
        return oversubscribed_ ? 64 : 4096;
    }
    void relax(std::int64_t round) const;

    Control& control_;
    std::int32_t rank_;
    std::int64_t limit_ns_;
    bool oversubscribed_;
};

}  // namespace ringscope::engine::host
