// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/causality.hpp"

#include <algorithm>
#include <tuple>

namespace ringscope::bench {
namespace {

using trace::Direction;
using trace::EventRow;

/// Both ends of a message have the same.
auto message_of(const EventRow& e) {
    const bool sent = e.direction == Direction::send;
    return std::tuple{e.iteration, sent ? e.rank : e.peer, sent ? e.peer : e.rank, e.seq};
}

/// Sends and receives of all messages, each a send right before its receive where both are there.
std::vector<const EventRow*> by_message(std::span<const EventRow> events) {
    std::vector<const EventRow*> sorted;
    for (const EventRow& event : events) sorted.push_back(&event);
    std::ranges::sort(sorted, {}, [](const EventRow* e) {
        return std::tuple_cat(message_of(*e), std::tuple{e->direction});
    });
    return sorted;
}

/// Where an engine does not say when it handed data over, it cannot have been before they were allowed to be.
std::int64_t handed_over(const EventRow& send) {
    return send.posted_ns == trace::not_available ? send.ready_ns : send.posted_ns;
}

std::string in_words(const EventRow& send, const EventRow& recv) {
    return "iteration " + std::to_string(send.iteration) + ", link " + std::to_string(send.rank) + " -> " +
           std::to_string(recv.rank) + ", message " + std::to_string(send.seq) + ": received " +
           std::to_string(handed_over(send) - recv.ready_ns) + " ns before it was sent";
}

}  // namespace

Causality check_causality(std::span<const EventRow> events, std::span<const std::int64_t> error_ns) {
    Causality found;
    const std::vector<const EventRow*> sorted = by_message(events);
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        const EventRow &send = *sorted[i], &recv = *sorted[i + 1];
        if (message_of(send) != message_of(recv) || send.direction == recv.direction) continue;
        const std::int64_t error =
            error_ns[static_cast<std::size_t>(send.rank)] + error_ns[static_cast<std::size_t>(recv.rank)];
        ++found.pairs;
        if (recv.ready_ns - send.ready_ns > error) ++found.decisive;
        if (recv.ready_ns - handed_over(send) >= -error) continue;
        if (found.violations++ == 0) found.first = in_words(send, recv);
    }
    return found;
}

}  // namespace ringscope::bench
