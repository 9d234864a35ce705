// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringscope::doctor {

enum class Severity : std::int8_t {
    harm,  ///< an all-reduce here is slower than it could be, or wrong, or ends early
    note   ///< may matter; good to know beside a result
};

[[nodiscard]] constexpr std::string_view name_of(Severity severity) {
    return severity == Severity::harm ? "harm" : "note";
}

/// Something on this machine that an all-reduce feels. Its id is a heading of docs/troubleshooting.md.
struct Finding {
    Severity severity = Severity::note;
    std::string_view id;
    std::string where;     ///< "0000:3b:00.0", "this process"
    std::string evidence;  ///< what was read
    std::string effect;    ///< what it does to an all-reduce
    std::string advice;    ///< what to do
    bool operator==(const Finding&) const = default;
};

namespace id {
inline constexpr std::string_view xid = "xid", remapped_rows = "remapped-rows", ecc = "ecc",
                                  peer_access = "peer-access", pcie_width = "pcie-width",
                                  pcie_speed = "pcie-speed", narrow_path = "narrow-path",
                                  aer_errors = "aer-errors", nvlink_down = "nvlink-down", mig = "mig",
                                  compute_mode = "compute-mode", throttled = "throttled",
                                  cpu_quota = "cpu-quota", shm_small = "shm-small", memlock = "memlock",
                                  clocksource = "clocksource", acs_redirect = "acs-redirect", iommu = "iommu",
                                  numa = "numa", aspm = "aspm", clocks = "clocks", version = "version",
                                  shared_switch = "shared-switch", open_files = "open-files",
                                  governor = "governor", persistence = "persistence";
}  // namespace id

/// All ids, the more harmful first.
[[nodiscard]] std::span<const std::string_view> all_ids();

/// In order of harm: by severity, then by id, then by place. Findings that differ in their place only become
/// one.
[[nodiscard]] std::vector<Finding> in_order(std::vector<Finding> findings);

}  // namespace ringscope::doctor
