// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/ledger.hpp"

#include <utility>

namespace ringscope::bench {
namespace {

using Link = TracedTraffic::Link;
using Counted = TracedTraffic::Counted;

Account at(const std::map<Link, Account>& accounts, Link link) {
    const auto found = accounts.find(link);
    return found == accounts.end() ? Account{} : found->second;
}

class Comparison {
 public:
    Comparison(
        std::int32_t case_index, const PreparedCase& prepared, const std::map<std::int64_t, Counted>& traced,
        std::int64_t ops
    )
        : case_index_{case_index}, prepared_{prepared}, traced_{traced}, ops_{ops} {}

    Ledger run() {
        const std::int32_t ranks = prepared_.declared->payload.ranks();
        for (std::int32_t src = 0; src < ranks; ++src) {
            for (std::int32_t dst = 0; dst < ranks; ++dst) compare({src, dst});
        }
        return std::move(ledger_);
    }

 private:
    void compare(Link link) {
        const auto [src, dst] = link;
        trace::TrafficRow row{
            .case_index = case_index_,
            .src = src,
            .dst = dst,
            .declared_payload = prepared_.declared->payload.at(src, dst),
            .declared_wire = prepared_.declared->wire.at(src, dst)};
        if (prepared_.closed_form) row.closed_form = prepared_.closed_form->at(src, dst);
        compare_traced(link, row);
        if (row.closed_form >= 0) differ(link, "closed form", row.closed_form, row.declared_payload);
        if (row.declared_payload > 0 || row.closed_form > 0 || row.traced_payload > 0)
            ledger_.rows.push_back(row);
    }

    void compare_traced(Link link, trace::TrafficRow& row) {
        for (const auto& [iteration, counted] : traced_) {
            const Account sent = at(counted.sent, link), received = at(counted.received, link);
            if (row.traced_payload == trace::not_available || sent.payload != ops_ * row.declared_payload) {
                row.traced_payload = sent.payload / ops_;
                row.traced_wire = sent.wire / ops_;
            }
            const std::string in = " in iteration " + std::to_string(iteration);
            differ(link, "sent bytes" + in, sent.payload, ops_ * row.declared_payload);
            differ(link, "received bytes" + in, received.payload, ops_ * row.declared_payload);
            differ(link, "sent wire bytes" + in, sent.wire, ops_ * row.declared_wire);
            differ(link, "received wire bytes" + in, received.wire, ops_ * row.declared_wire);
        }
    }

    void differ(Link link, const std::string& what, std::int64_t is, std::int64_t declared) {
        if (is == declared) return;
        ledger_.differences.push_back(
            "link " + std::to_string(link.first) + " -> " + std::to_string(link.second) + ": " + what + " " +
            std::to_string(is) + ", declared " + std::to_string(declared)
        );
    }

    std::int32_t case_index_;
    const PreparedCase& prepared_;
    const std::map<std::int64_t, Counted>& traced_;
    std::int64_t ops_;
    Ledger ledger_;
};

}  // namespace

void TracedTraffic::add(std::span<const trace::EventRow> events) {
    for (const trace::EventRow& event : events) {
        Counted& counted = iterations_[event.iteration];
        const bool sent = event.direction == trace::Direction::send;
        Account& account =
            sent ? counted.sent[{event.rank, event.peer}] : counted.received[{event.peer, event.rank}];
        account.payload += event.payload_bytes;
        account.wire += event.wire_bytes;
    }
}

Ledger make_ledger(
    std::int32_t case_index, const PreparedCase& prepared, const TracedTraffic& traced, std::int64_t ops,
    bool lossy
) {
    if (!prepared.declared) return {};
    const TracedTraffic none;
    return Comparison{case_index, prepared, (lossy ? none : traced).iterations(), ops}.run();
}

}  // namespace ringscope::bench
