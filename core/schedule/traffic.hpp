// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ringscope/abi.h"
#include "schedule/plan.hpp"

namespace ringscope::schedule {

/// Bytes per directed link of one operation, as a dense [src][dst] matrix.
class LinkBytes {
 public:
    explicit LinkBytes(std::int32_t ranks)
        : ranks_{ranks}, bytes_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {}

    [[nodiscard]] std::int64_t& at(std::int32_t src, std::int32_t dst) { return bytes_[index(src, dst)]; }
    [[nodiscard]] std::int64_t at(std::int32_t src, std::int32_t dst) const {
        return bytes_[index(src, dst)];
    }
    [[nodiscard]] std::int32_t ranks() const { return ranks_; }
    [[nodiscard]] std::int64_t sent_by(std::int32_t rank) const;
    [[nodiscard]] std::int64_t total() const;
    [[nodiscard]] std::int64_t busiest() const;
    friend bool operator==(const LinkBytes&, const LinkBytes&) = default;

 private:
    [[nodiscard]] std::size_t index(std::int32_t src, std::int32_t dst) const {
        return static_cast<std::size_t>(src) * static_cast<std::size_t>(ranks_) +
               static_cast<std::size_t>(dst);
    }
    std::int32_t ranks_;
    std::vector<std::int64_t> bytes_;
};

/// What the schedule's ops say: payload, and wire bytes (stored in the peer's memory, with flags and
/// padding).
struct DeclaredTraffic {
    LinkBytes payload, wire;
};
[[nodiscard]] DeclaredTraffic declared_traffic(const Plan& plan);

/// What the algorithm's law says, which does not see the schedule; -1 everywhere when it has none.
[[nodiscard]] LinkBytes closed_form_traffic(const ringscope_algorithm& algorithm, PlanRequest request);

/// One message on paper.
struct DrawnMessage {
    std::int32_t step = 0, phase = 0, src = 0, dst = 0, chunk = 0;
    std::int64_t bytes = 0;
    auto operator<=>(const DrawnMessage&) const = default;
};

/// The steps and bytes of an algorithm on paper, for `ringscope describe`.
struct Description {
    std::string id, text;
    Protocol protocol = Protocol::simple;
    std::int32_t ranks = 0, steps = 0, chunks = 0;
    std::int64_t bytes = 0;
    std::vector<std::string> option_names;
    std::vector<std::int64_t> options;
    std::vector<DrawnMessage> messages;  ///< in the order of steps; empty ones left out
    LinkBytes declared, closed_form;
};
/// `options`: all of the algorithm's, in order; empty: as usual. The message is one slice.
[[nodiscard]] Description describe(
    const ringscope_algorithm& algorithm, std::int32_t ranks, std::int64_t bytes,
    const std::vector<std::int64_t>& options = {}
);

}  // namespace ringscope::schedule
