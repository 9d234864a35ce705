// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "environment/environment.hpp"

namespace ringscope::environment {

/// What lies where in this host: packages, caches, NUMA nodes, PCI devices.
struct Topology {
    std::string version = std::string{unavailable};  ///< of hwloc
    std::string xml;                                 ///< as `lstopo --of xml` writes it; or ""
};

/// By hwloc, where this build has it. Empty for any root but the machine's: it is the machine that is asked.
[[nodiscard]] Topology capture_topology(const Sources& sources = {});

}  // namespace ringscope::environment
