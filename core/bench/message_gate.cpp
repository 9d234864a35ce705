// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/message_gate.hpp"

#include <algorithm>

#include "base/time.hpp"

namespace ringscope::bench {

MessageGate::MessageGate(
    bootstrap::Bootstrap& bootstrap, StartMode mode, bool oversubscribed, const clock::Clocks& clocks
)
    : bootstrap_{bootstrap},
      window_{mode == StartMode::window || (mode == StartMode::automatic && !oversubscribed)},
      clocks_{clocks} {}

bool MessageGate::pass() {
    if (window_) return window();
    bootstrap_.barrier();
    return true;
}

/// All have come when it is known who was late before. After a late one the start is announced further ahead.
bool MessageGate::window() {
    constexpr std::int64_t longest_lead_ns = 50'000'000;
    const std::vector<std::string> late = bootstrap_.all_gather(late_ ? "late" : "");
    const bool all_in_time = std::ranges::all_of(late, &std::string::empty);
    if (!all_in_time) lead_ns_ = std::min(2 * lead_ns_, longest_lead_ns);
    const std::int64_t announced_ns = share(now_ns() + lead_ns_);
    const std::int64_t start_ns = clocks_.of(bootstrap_.rank()).from_reference(announced_ns);
    late_ = now_ns() > start_ns;
    while (now_ns() < start_ns) {
    }
    return !late_;
}

std::int64_t MessageGate::share(std::int64_t value) {
    std::string text = std::to_string(value);
    bootstrap_.broadcast(text, 0);
    return std::stoll(text);
}

}  // namespace ringscope::bench
