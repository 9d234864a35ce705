// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/experiment.hpp"
#include "conform/group.hpp"

namespace ringscope::conform {

/// What the cases of a gate depend on.
struct Subject {
    AlgorithmChoice as_it_is;                 ///< without parameters
    std::vector<AlgorithmChoice> variants{};  ///< other ways to play it
    std::string engine;
    bool on_device = false;
    bool opaque = false;  ///< a baseline: it has no slots, and no types of its engine's
    std::int32_t ranks = 1;
    std::int64_t slots = 3;  ///< the fewest that it can be played with
    Extent extent = Extent::reduced;
};

/// Cases that share an experiment: a line of the gate's report.
struct CaseGroup {
    std::string name;
    Experiment experiment;
};

/// All cases of a gate: every type and operation, counts that do not divide, unaligned and in place, slots
/// that are used again, operations back to back and in graphs, and all modes of verification.
[[nodiscard]] std::vector<CaseGroup> case_groups(const Subject& subject);

}  // namespace ringscope::conform
