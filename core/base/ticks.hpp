// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace ringscope {

/// A counter of this processor that is cheap to read (10 to 20 ns, where the system's clock takes 25 to 50),
/// for stamps that are turned into nanoseconds later. It is read when all loads before it are done: a plain
/// RDTSC overtakes the load of a flag that it is to stamp, by as much as the flag's way between two cores.
[[nodiscard]] inline std::int64_t ticks() noexcept {
#if defined(__x86_64__)
    unsigned int processor = 0;
    return static_cast<std::int64_t>(__builtin_ia32_rdtscp(&processor));
#else
    return now_ns();
#endif
}

/// The same counter in half the time, read when the processor comes to it: loads before it may still be under
/// way, some ten nanoseconds at most where they hit a cache.
[[nodiscard]] inline std::int64_t ticks_unordered() noexcept {
#if defined(__x86_64__)
    return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#else
    return now_ns();
#endif
}

/// Turns ticks into nanoseconds of now_ns().
class TickClock {
 public:
    /// Where the counter runs at a constant rate on all processors (invariant TSC, and the kernel itself
    /// keeps time by it), it is taken; its rate is measured at the first call, for some milliseconds.
    [[nodiscard]] static const TickClock& of_this_machine();

    /// Whether ticks() is the counter that this clock converts; if not, stamps have to be now_ns().
    [[nodiscard]] bool uses_counter() const { return uses_counter_; }
    [[nodiscard]] std::int64_t read() const noexcept { return uses_counter_ ? ticks() : now_ns(); }
    [[nodiscard]] std::int64_t read_unordered() const noexcept {
        return uses_counter_ ? ticks_unordered() : now_ns();
    }
    /// Nanoseconds that so many ticks take.
    [[nodiscard]] std::int64_t ns_of(std::int64_t ticks) const {
        return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_);
    }

 private:
    bool uses_counter_ = false;
    double ns_per_tick_ = 1;
};

/// Ticks and now_ns() of one moment.
struct TickAnchor {
    std::int64_t ticks = 0, ns = 0;
    std::int64_t error_ticks = 0;  ///< the two are of the same moment within this bound

    /// The closest of some pairs of readings.
    [[nodiscard]] static TickAnchor now(const TickClock& clock);
};

}  // namespace ringscope
