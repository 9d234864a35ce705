// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/messages.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace ringscope::clock {
namespace {

class Pair {
 public:
    Pair(bootstrap::Bootstrap& bootstrap, int other, const Effort& effort, const MessageOptions& options)
        : bootstrap_{bootstrap}, other_{other}, effort_{effort}, options_{options} {}

    std::vector<Exchange> ask() const {
        std::vector<Exchange> exchanges;
        for (int series = 0; series < effort_.series; ++series) {
            if (series > 0) options_.sleep(effort_.pause_ns);
            for (int i = 0; i < effort_.questions; ++i) exchanges.push_back(ask_once());
        }
        return exchanges;
    }

    void answer() const {
        for (int i = 0; i < effort_.series * effort_.questions; ++i) {
            (void)bootstrap_.receive(other_);
            bootstrap_.send(std::to_string(options_.clock()), other_);
        }
    }

 private:
    [[nodiscard]] Exchange ask_once() const {
        Exchange exchange{.asked_ns = options_.clock()};
        bootstrap_.send("?", other_);
        const std::string answer = bootstrap_.receive(other_);
        exchange.heard_ns = options_.clock();
        exchange.answered_ns = std::stoll(answer);
        return exchange;
    }

    bootstrap::Bootstrap& bootstrap_;
    int other_;
    const Effort& effort_;
    const MessageOptions& options_;
};

std::int64_t round_trip_ns(const Exchange& exchange) {
    return exchange.heard_ns - exchange.asked_ns;
}

}  // namespace

void sleep_ns(std::int64_t ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds{ns});
}

int asker_of(int member) {
    return member & (member - 1);
}

/// In the round of a bit, members that have no lower one ask the one that has this bit too.
std::vector<Told> compare_over_messages(
    bootstrap::Bootstrap& bootstrap, std::span<const int> ranks, const Effort& effort,
    const MessageOptions& options
) {
    const int members = static_cast<int>(ranks.size());
    const auto own = static_cast<int>(std::ranges::find(ranks, bootstrap.rank()) - ranks.begin());
    const auto pair_with = [&](int member) {
        return Pair{bootstrap, ranks[static_cast<std::size_t>(member)], effort, options};
    };
    std::vector<Told> told;
    for (int bit = 1; bit < members; bit *= 2) {
        const int other = own ^ bit;
        if (own % bit != 0 || other >= members) continue;
        if (other < own) {
            pair_with(other).answer();
        } else {
            told.push_back({ranks[static_cast<std::size_t>(other)], pair_with(other).ask()});
        }
    }
    return told;
}

std::vector<Exchange> shortest_of_series(std::span<const Exchange> exchanges, int questions) {
    std::vector<Exchange> shortest;
    const auto length = static_cast<std::size_t>(questions);
    for (std::size_t i = 0; i < exchanges.size(); i += length)
        shortest.push_back(*std::ranges::min_element(exchanges.subspan(i, length), {}, round_trip_ns));
    return shortest;
}

}  // namespace ringscope::clock
