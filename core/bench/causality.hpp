// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/rows.hpp"

namespace ringscope::bench {

/// Whether the stamps of a trace can be in the order that they say.
struct Causality {
    std::int64_t pairs = 0;       ///< messages of which both ends are there
    std::int64_t decisive = 0;    ///< data came after the sender could begin, by more than the clocks' error
    std::int64_t violations = 0;  ///< data came before they were handed over, by more than the clocks' error
    std::string first;            ///< violation, in words
};

/// Checks every message: at the receiver the first data cannot be there before the sender handed them over.
/// `error_ns[r]` bounds how far the stamps of rank r may be off; those of two ranks add up.
[[nodiscard]] Causality check_causality(
    std::span<const trace::EventRow> events, std::span<const std::int64_t> error_ns
);

}  // namespace ringscope::bench
