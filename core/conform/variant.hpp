// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/experiment.hpp"
#include "schedule/plan.hpp"

namespace ringscope::conform {

/// One way to play an algorithm: over these links, with these options.
struct Variant {
    const ringscope_algorithm& algorithm;
    AlgorithmChoice choice;             ///< as an experiment names it
    schedule::LinkFormat link;          ///< of the engine that plays it
    std::vector<std::int64_t> options;  ///< of the algorithm, all of them in order

    /// Whether it has a schedule for so many ranks, one of which at least takes part.
    [[nodiscard]] bool supports(std::int32_t ranks) const;
};

/// What an engine's links look like; throws Error (unusable_engine) for a protocol that it does not have.
using FormatOf = std::function<schedule::LinkFormat(Protocol)>;

/// The algorithm as it is (where the engine lacks its own protocol, with the first that it has), then with
/// each other protocol that it names, then with its options at their bounds and next to the lower one, at
/// most two of them changed at a time. Throws Error (unusable_engine) where the engine has none of its
/// protocols.
[[nodiscard]] std::vector<Variant> variants_of(
    const ringscope_algorithm& algorithm, const FormatOf& format_of
);

}  // namespace ringscope::conform
