// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace ringscope::bench {

/// Bounds what cannot be bounded from inside: calls into MPI and other opaque libraries. When a stage is not
/// left in time, `expired(text)` is called from the watchdog's own thread; it must not return to normal work
/// but end the process.
class Watchdog {
 public:
    using Expired = std::function<void(const std::string& reason)>;

    explicit Watchdog(Expired expired);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Begins a stage, which ends the one before it; it must end within `limit_ns`. `reason` is what is said
    /// where it does not, with the name of the limit.
    void enter(const std::string& reason, std::int64_t limit_ns);
    void leave();

 private:
    void watch();

    Expired expired_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string reason_;
    std::int64_t deadline_ns_ = 0;  ///< 0: nothing to watch
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace ringscope::bench
