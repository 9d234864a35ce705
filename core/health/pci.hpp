// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "health/sources.hpp"

namespace ringscope::health {

/// 0: not known.
struct PciLink {
    double gigatransfers = 0;  ///< per second and lane: 2.5, 5, 8, 16, 32, 64
    int width = 0;             ///< lanes

    [[nodiscard]] bool known() const { return gigatransfers > 0 && width > 0; }
    bool operator==(const PciLink&) const = default;
};

/// What a link carries in each direction, GB/s (10^9): speed x width x encoding / 8. The encoding is 8b/10b
/// up to 5 GT/s, 128b/130b up to 32 GT/s, and 236 of 256 bytes of a flit at 64 GT/s (PCI Express 1.0 to 6.0).
/// 0 where the link is not known.
[[nodiscard]] double gigabytes_per_second(const PciLink& link);

/// Errors that a device has reported since it was started (aer_dev_*, TOTAL_ERR_*); -1: not known.
struct PciErrors {
    std::int64_t correctable = -1, nonfatal = -1, fatal = -1;
    bool operator==(const PciErrors&) const = default;
};

struct PciDevice {
    std::string address;           ///< "0000:3b:00.0"
    std::string parent;            ///< address of the bridge above; "" at the root
    std::uint32_t class_code = 0;  ///< 0x030200
    std::uint16_t vendor = 0, device = 0;
    int numa_node = -1;
    PciLink now, most;  ///< of an endpoint and of a switch's upper port the link above it, else that below it
    PciErrors errors;
    std::optional<bool> aspm;          ///< whether its link may sleep (L0s or L1)
    std::optional<bool> acs_redirect;  ///< whether it sends requests or completions between peers upwards
    std::string iommu;                 ///< "DMA", "DMA-FQ", "identity"; "" where there is none or not known

    /// The functions of one card or port differ in the last digit only.
    [[nodiscard]] std::string_view slot() const;
};

[[nodiscard]] bool is_gpu(const PciDevice& device);  ///< one that CUDA drives
[[nodiscard]] bool is_bridge(const PciDevice& device);
/// A port that a virtual machine makes up. What it says of its link means nothing.
[[nodiscard]] bool is_made_up(const PciDevice& port);

/// A link of the way from a device to the root.
struct PathLink {
    std::string lower;  ///< the end away from the root
    std::string upper;  ///< "" where the port above is not there to be seen, or is made up
    PciLink now;
    PciLink lower_most, upper_most;  ///< what the ends can do; upper_most not known where there is no upper

    /// What both ends can do.
    [[nodiscard]] PciLink most() const;
};

/// Address as the kernel writes it: "00000000:3B:00.0" of NVML and "0000:3B:00" become "0000:3b:00.0".
[[nodiscard]] std::string pci_address(std::string_view text);

/// The PCI devices of a machine, from /sys/bus/pci/devices.
class PciTree {
 public:
    /// All of them. Of what lies on no GPU's way only the identity is read, which is kept in memory: to ask
    /// for a link may wake a device that sleeps, and a configuration space costs a millisecond.
    [[nodiscard]] static PciTree read(const Sources& sources);
    /// A device and the bridges above it, of each no more than makers, links and errors: under a millisecond.
    [[nodiscard]] static PciTree read_path(const Sources& sources, std::string_view address);

    /// Reads links and errors anew: each keeps the best speed and width of both, and the errors of now.
    void sample_again(const Sources& sources);

    [[nodiscard]] const PciDevice* find(std::string_view address) const;
    /// The device first, then each bridge up to the root; none for a device that is not there.
    [[nodiscard]] std::vector<const PciDevice*> path(std::string_view address) const;
    /// All devices below a bridge, however deep.
    [[nodiscard]] std::vector<const PciDevice*> below(std::string_view address) const;
    /// The links of that way, the device's own first. Ends where a port is made up, or says that it can do
    /// less than what runs below it.
    [[nodiscard]] std::vector<PathLink> links(std::string_view address) const;
    [[nodiscard]] std::vector<const PciDevice*> gpus() const;

    [[nodiscard]] const std::map<std::string, PciDevice, std::less<>>& devices() const { return devices_; }

 private:
    std::map<std::string, PciDevice, std::less<>> devices_;
    std::set<std::string> sampled_;  ///< those whose links and errors are read
};

}  // namespace ringscope::health
