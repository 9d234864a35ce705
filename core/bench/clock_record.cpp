// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/clock_record.hpp"

#include "base/time.hpp"

namespace ringscope::bench {

void ClockRecord::add(const trace::ClockRow& row, const std::vector<clock::Exchange>& asked) {
    rows.push_back(row);
    for (const clock::Exchange& e : asked)
        exchanges.push_back({row.rank, row.peer, row.clock, row.anchor, e.asked_ns, e.answered_ns, e.heard_ns}
        );
}

ClockRecord record_of(
    const clock::Clocks& clocks, const std::vector<clock::Comparison>& comparisons, const std::string& anchor
) {
    ClockRecord record;
    const std::int64_t now = now_ns();
    for (const clock::Comparison& c : comparisons) {
        const std::int64_t at_peer_ns = clocks.of(c.peer).from_reference(now);
        const trace::ClockRow row{
            .rank = c.rank,
            .peer = c.peer,
            .clock = "host",
            .anchor = anchor,
            .time_ns = now,
            .offset_ns = c.line.offset_at(at_peer_ns),
            .slope = 1 + c.line.drift,
            .error_bound_ns = c.line.error_at(at_peer_ns)};
        record.add(row, c.exchanges);
    }
    return record;
}

}  // namespace ringscope::bench
