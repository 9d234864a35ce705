// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/causality.hpp"

#include <algorithm>
#include <tuple>

namespace ringscope::bench {

using trace::Direction;
using trace::EventRow;

/// Where an engine does not say when it handed data over, it cannot have been before they were allowed to be.
CausalityCheck::End CausalityCheck::end_of(const EventRow& e) {
    const bool sent = e.direction == Direction::send;
    return {
        .iteration = e.iteration,
        .src = sent ? e.rank : e.peer,
        .dst = sent ? e.peer : e.rank,
        .seq = e.seq,
        .direction = e.direction,
        .ready_ns = e.ready_ns,
        .handed_over_ns = e.posted_ns == trace::not_available ? e.ready_ns : e.posted_ns};
}

bool CausalityCheck::same_message(const End& one, const End& other) {
    return std::tie(one.iteration, one.src, one.dst, one.seq) ==
           std::tie(other.iteration, other.src, other.dst, other.seq);
}

/// Sorted, a send comes right before its receive where both are there.
void CausalityCheck::add(std::span<const EventRow> events) {
    std::vector<End> ends = std::move(open_);
    for (const EventRow& event : events) ends.push_back(end_of(event));
    std::ranges::sort(ends, {}, [](const End& e) {
        return std::tie(e.iteration, e.src, e.dst, e.seq, e.direction);
    });
    open_.clear();
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const bool paired = i + 1 < ends.size() && same_message(ends[i], ends[i + 1]) &&
                            ends[i].direction != ends[i + 1].direction;
        if (paired) {
            compare(ends[i], ends[i + 1]);
            ++i;
        } else if (ends[i].iteration == ends.back().iteration) {
            open_.push_back(ends[i]);
        }
    }
}

void CausalityCheck::compare(const End& send, const End& recv) {
    const std::int64_t error =
        error_ns_[static_cast<std::size_t>(send.src)] + error_ns_[static_cast<std::size_t>(send.dst)];
    const std::int64_t early = send.handed_over_ns - recv.ready_ns;
    ++found_.pairs;
    if (recv.ready_ns - send.ready_ns > error) ++found_.decisive;
    if (early <= error) return;
    if (found_.violations++ > 0) return;
    found_.first = "iteration " + std::to_string(send.iteration) + ", link " + std::to_string(send.src) +
                   " -> " + std::to_string(send.dst) + ", message " + std::to_string(send.seq) +
                   ": received " + std::to_string(early) + " ns before it was sent";
}

}  // namespace ringscope::bench
