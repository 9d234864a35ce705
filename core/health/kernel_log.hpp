// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "health/sources.hpp"

namespace ringscope::health {

/// A line of the kernel about a PCI device that matters here.
struct KernelMessage {
    enum class Kind : std::int8_t { xid, aer };
    Kind kind = Kind::xid;
    std::string pci_id;
    int xid = 0;           ///< NVIDIA's number of the error
    std::string severity;  ///< of AER: "corrected", "nonfatal", "fatal"
    std::string text;      ///< as the kernel wrote it
    bool operator==(const KernelMessage&) const = default;
};

/// One line of the kernel's log, with or without the header of /dev/kmsg; nothing where it is none of ours.
[[nodiscard]] std::optional<KernelMessage> parse_kernel_line(std::string_view line);

/// What the kernel has said since it started, as far as its log still holds it: /dev/kmsg below the root.
/// Nothing where this process may not read it. Of the machine's own log only what is new is read each time.
[[nodiscard]] std::optional<std::vector<KernelMessage>> read_kernel_log(const Sources& sources);

}  // namespace ringscope::health
