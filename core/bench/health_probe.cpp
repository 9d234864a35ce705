// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/health_probe.hpp"

#include <memory>
#include <optional>

#include "base/time.hpp"
#include "environment/throttling.hpp"
#include "health/nvml.hpp"
#include "health/pci.hpp"
#include "health/reading.hpp"

namespace ringscope::bench {
namespace {

using trace::HealthRow;

double known(double value) {
    return value < 0 ? trace::nan : value;
}

HealthRow row_of(const health::Reading& reading) {
    return {
        .device = reading.pci_id,
        .time_ns = now_ns(),
        .link_gts = known(reading.link_gts),
        .link_width = reading.link_width,
        .path_gbps = known(reading.path_gbps),
        .aer_correctable = reading.aer_correctable,
        .aer_nonfatal = reading.aer_nonfatal,
        .aer_fatal = reading.aer_fatal,
        .xids = reading.xids,
        .sm_clock_mhz = reading.sm_clock_mhz,
        .throttle = reading.throttle,
        .throttled_ns = reading.throttled_ns,
        .temperature_c = reading.temperature_c,
        .power_w = known(reading.power_w)};
}

/// The processors of this host, which remembers whether they were hot.
class HostProbe {
 public:
    explicit HostProbe(const health::Sources& sources) : reader_{sources} {}

    std::optional<HealthRow> read() {
        const environment::Throttling now = reader_.read();
        if (now.throttled_ns < 0 && now.thermal_events < 0) return std::nullopt;
        HealthRow row{.device = trace::host_device, .time_ns = now_ns(), .throttled_ns = now.throttled_ns};
        if (last_events_ >= 0 && now.thermal_events > last_events_) row.throttle = health::throttle::thermal;
        last_events_ = now.thermal_events;
        return row;
    }

 private:
    environment::ThrottlingReader reader_;
    std::int64_t last_events_ = trace::not_available;
};

std::set<std::string> joined_by_nvlink(const health::Sources& sources) {
    std::set<std::string> joined;
    for (const health::GpuState& gpu : health::read_gpus(sources))
        if (gpu.active_nvlinks > 0) joined.insert(health::pci_address(gpu.pci_id));
    return joined;
}

}  // namespace

HealthProbe make_health_probe(
    const std::vector<std::string>& pci_ids, bool first_of_host, const std::filesystem::path& root
) {
    const health::Sources sources{.root = root};
    std::shared_ptr<HostProbe> host;
    if (first_of_host) host = std::make_shared<HostProbe>(sources);
    HealthProbe probe;
    probe.stands_in = !sources.is_machine();
    if (!pci_ids.empty()) probe.over_nvlink = joined_by_nvlink(sources);
    probe.read = [pci_ids, sources, host] {
        std::vector<HealthRow> rows;
        for (const std::string& id : pci_ids) rows.push_back(row_of(health::read_device(id, sources)));
        if (!host) return rows;
        if (auto row = host->read()) rows.push_back(std::move(*row));
        return rows;
    };
    return probe;
}

std::vector<std::string> gpus_below(const std::filesystem::path& root) {
    std::vector<std::string> ids;
    for (const health::GpuState& gpu : health::read_gpus({.root = root})) ids.push_back(gpu.pci_id);
    return ids;
}

}  // namespace ringscope::bench
