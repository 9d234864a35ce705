// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "health/sources.hpp"

namespace ringscope::health {

/// The text of a control file of this process's group: ("cpu", "cpu.cfs_quota_us"); the controller of the
/// unified hierarchy (version 2) is "". A container may see only the top of the hierarchy while the group
/// bears the name it has on the host.
[[nodiscard]] Text cgroup_file(const Sources& sources, std::string_view controller, std::string_view file);

/// "quota period" in microseconds, "max" without a quota: the form of version 2 for both versions.
[[nodiscard]] Text cgroup_cpu_limit(const Sources& sources);

}  // namespace ringscope::health
