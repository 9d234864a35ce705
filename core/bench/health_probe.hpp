// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "trace/rows.hpp"

namespace ringscope::bench {

/// How the state of a rank's devices is read.
struct HealthProbe {
    /// A row for each GPU of the rank, and one for its host on the host's first rank; times are of the rank's
    /// own clock, case and rank are left out. Empty: nothing is watched.
    std::function<std::vector<trace::HealthRow>()> read{};
    std::set<std::string> over_nvlink{};  ///< GPUs of this host that reach each other past their PCIe links
    /// What is read is a tree of files: every case of some length counts as load on its links.
    bool stands_in = false;
};

/// Reads the machine, or the tree below another root.
[[nodiscard]] HealthProbe make_health_probe(
    const std::vector<std::string>& pci_ids, bool first_of_host, const std::filesystem::path& root
);

/// The GPUs of a tree below another root, in the order of its nvml.json: rank r takes number r, if it is
/// there.
[[nodiscard]] std::vector<std::string> gpus_below(const std::filesystem::path& root);

}  // namespace ringscope::bench
