// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "doctor/finding.hpp"
#include "doctor/system.hpp"

namespace ringscope::doctor {

/// What is wrong with a machine that was looked at twice, in order of harm. What is not known is not judged.
/// Links of loaded GPUs are judged by the second look, for an idle link may sleep; others by the better of
/// both.
[[nodiscard]] std::vector<Finding> findings(
    const System& idle, const System& later, const Circumstances& circumstances
);

/// Their parts: of PCI Express; of GPUs and their pairs; of host and limits.
[[nodiscard]] std::vector<Finding> link_findings(
    const System& idle, const System& later, const Circumstances& circumstances
);
[[nodiscard]] std::vector<Finding> gpu_findings(
    const System& idle, const System& later, const Circumstances& circumstances
);
[[nodiscard]] std::vector<Finding> host_findings(const System& system);

/// Whether two GPUs or more have no other way to each other than PCI Express.
[[nodiscard]] bool peers_meet_over_pcie(const System& system);

/// "32 GT/s x16 (63.0 GB/s)", or "not known".
[[nodiscard]] std::string text_of(const health::PciLink& link);

}  // namespace ringscope::doctor
