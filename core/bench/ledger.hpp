// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/prepare.hpp"
#include "trace/rows.hpp"

namespace ringscope::bench {

/// The traffic of a case per directed link, and what does not agree in it.
struct Ledger {
    std::vector<trace::TrafficRow> rows;  ///< one per link that carries or should carry something
    std::vector<std::string>
        differences;  ///< in words; empty when declared = traced = closed form on every link
};

struct Account {
    std::int64_t payload = 0, wire = 0;
    friend bool operator==(const Account&, const Account&) = default;
};

/// What both ends of the links counted in the traced iterations, added up event by event.
class TracedTraffic {
 public:
    using Link = std::pair<std::int32_t, std::int32_t>;
    struct Counted {
        std::map<Link, Account> sent, received;
    };

    void add(std::span<const trace::EventRow> events);
    [[nodiscard]] const std::map<std::int64_t, Counted>& iterations() const { return iterations_; }

 private:
    std::map<std::int64_t, Counted> iterations_;
};

/// Holds the independent accounts of a case's traffic against each other, as integers: what the schedule
/// declares, what the copy loops stored (kept at both ends, in every traced iteration), and the closed form.
/// `ops`: operations of a traced iteration. `lossy`: events were dropped, so there is no traced account.
[[nodiscard]] Ledger make_ledger(
    std::int32_t case_index, const PreparedCase& prepared, const TracedTraffic& traced, std::int64_t ops,
    bool lossy
);

}  // namespace ringscope::bench
