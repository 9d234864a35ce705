// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "health/sources.hpp"

namespace ringscope::health {

/// A GPU and its way to the host at one moment: small and flat, for a row of a table. -1 and "" where not
/// known.
struct Reading {
    std::string pci_id{};
    double link_gts = -1;   ///< of the GPU's own link, GT/s per lane
    int link_width = -1;    ///< its lanes
    double path_gbps = -1;  ///< what the slowest link up to the root complex carries each way, GB/s (10^9)
    std::int64_t aer_correctable = -1, aer_nonfatal = -1,
                 aer_fatal = -1;  ///< of the GPU and all bridges above
    std::int64_t xids = -1;       ///< in the kernel's log
    int sm_clock_mhz = -1;
    std::string throttle{};          ///< words of health/nvml.hpp, separated by blanks
    std::int64_t throttled_ns = -1;  ///< for power and heat, since the driver was loaded
    int temperature_c = -1;
    double power_w = -1;
    bool operator==(const Reading&) const = default;
};

/// What can be read of a GPU now, in far less than a millisecond but for what NVML takes. A GPU that is not
/// there gives a reading of which nothing is known.
[[nodiscard]] Reading read_device(const std::string& pci_id, const Sources& sources);

}  // namespace ringscope::health
