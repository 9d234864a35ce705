// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "bootstrap/bootstrap.hpp"
#include "clock/exchange.hpp"

namespace ringscope::clock {

/// How much is asked over messages: series of questions, and how long to wait between two series. The longer
/// all of it takes, the better is the drift known.
struct Effort {
    int series = 50, questions = 20;
    std::int64_t pause_ns = 10'000'000;
};

void sleep_ns(std::int64_t ns);

struct MessageOptions {
    std::function<std::int64_t()> clock = now_ns;
    std::function<void(std::int64_t ns)> sleep = sleep_ns;
};

/// Who asks number `member` of a tree in which every one but number 0 is asked once: the member without the
/// lowest of its binary ones. Members that ask at the same time are different, so that all are through after
/// log2 rounds (HCA3: Hunold and Carpen-Amarie, CLUSTER 2018).
[[nodiscard]] int asker_of(int member);

/// What a rank was told by one that it asked.
struct Told {
    int rank = 0;
    std::vector<Exchange> exchanges;
};

/// Compares the clocks of these ranks along the tree, number 0 of which is the first of them. Called by all
/// of `ranks` alike. Gives what this rank was told by those that it asked: the exchanges of all series in
/// order.
[[nodiscard]] std::vector<Told> compare_over_messages(
    bootstrap::Bootstrap& bootstrap, std::span<const int> ranks, const Effort& effort,
    const MessageOptions& options
);

/// The exchange of each series that took the shortest time.
[[nodiscard]] std::vector<Exchange> shortest_of_series(std::span<const Exchange> exchanges, int questions);

}  // namespace ringscope::clock
