// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/traffic.hpp"
#include "trace/rows.hpp"

namespace ringscope::machine {

/// What a case got out of the links.
struct Speed {
    std::string engine;
    const schedule::LinkBytes& payload;  ///< of one operation
    std::int64_t reused_bytes = 0;       ///< memory of one link that its message goes through again and again
    double time_ns = 0;                  ///< of one operation
};

/// A link that was faster than it can be. Rates in byte/s.
struct Excess {
    std::int32_t src = 0, dst = 0;
    double rate = 0, ceiling = 0;
};

/// "2.10 GB/s from rank 0 to rank 1, whose link was measured at 1.05 GB/s"
[[nodiscard]] std::string in_words(const Excess& excess);

/// The rates of /machine as bounds on what a case can reach.
class Ceilings {
 public:
    Ceilings() = default;  ///< of nothing: no case is too fast
    explicit Ceilings(std::vector<trace::MachineRow> rows) : rows_{std::move(rows)} {}

    /// The best rate from src to dst, by load and store or copy engine, at any size of so many bytes or more;
    /// of the largest size where all are smaller. A smaller size says nothing of a larger one, for on hosts
    /// it fits into caches that the larger one does not fit into. byte/s; NaN where nothing was measured.
    [[nodiscard]] double rate(
        const std::string& engine, std::int32_t src, std::int32_t dst, std::int64_t bytes
    ) const;

    /// The link that is above its ceiling by the largest factor, of those that are by more than 5 %.
    [[nodiscard]] std::optional<Excess> excess(const Speed& speed) const;

 private:
    std::vector<trace::MachineRow> rows_;
};

}  // namespace ringscope::machine
