// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/reading.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "health/kernel_log.hpp"
#include "health/nvml.hpp"
#include "health/pci.hpp"

namespace ringscope::health {
namespace {

void add(std::int64_t& sum, std::int64_t count) {
    if (count >= 0) sum = std::max<std::int64_t>(sum, 0) + count;
}

void read_way(const Sources& sources, Reading& reading) {
    const PciTree tree = PciTree::read_path(sources, reading.pci_id);
    for (const PciDevice* device : tree.path(reading.pci_id)) {
        add(reading.aer_correctable, device->errors.correctable);
        add(reading.aer_nonfatal, device->errors.nonfatal);
        add(reading.aer_fatal, device->errors.fatal);
    }
    const std::vector<PathLink> links = tree.links(reading.pci_id);
    if (links.empty()) return;
    const PciLink& own = links.front().now;
    if (own.gigatransfers > 0) reading.link_gts = own.gigatransfers;
    if (own.width > 0) reading.link_width = own.width;
    for (const PathLink& link : links) {
        if (!link.now.known()) continue;
        const double rate = gigabytes_per_second(link.now);
        reading.path_gbps = reading.path_gbps < 0 ? rate : std::min(reading.path_gbps, rate);
    }
}

void read_log(const Sources& sources, Reading& reading) {
    const auto messages = read_kernel_log(sources);
    if (!messages) return;
    reading.xids = std::ranges::count_if(*messages, [&](const KernelMessage& message) {
        return message.kind == KernelMessage::Kind::xid && message.pci_id == reading.pci_id;
    });
}

void read_gpu(const Sources& sources, Reading& reading) {
    const std::optional<GpuState> gpu = read_vitals(sources, reading.pci_id);
    if (!gpu) return;
    reading.sm_clock_mhz = gpu->sm_clock_mhz;
    reading.throttle = join(gpu->throttle, " ");
    reading.throttled_ns = gpu->throttled_ns;
    reading.temperature_c = gpu->temperature_c;
    reading.power_w = gpu->power_w;
}

}  // namespace

Reading read_device(const std::string& pci_id, const Sources& sources) {
    Reading reading;
    reading.pci_id = pci_address(pci_id);
    read_way(sources, reading);
    read_log(sources, reading);
    read_gpu(sources, reading);
    return reading;
}

}  // namespace ringscope::health
