// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "health/nvml.hpp"

namespace ringscope::health {
namespace {

using nlohmann::json;

json flag(const std::optional<bool>& value) {
    return value ? json(*value) : json(nullptr);
}

json object_of(const GpuState& gpu) {
    return {
        {"pci_id", gpu.pci_id},
        {"name", gpu.name},
        {"uuid", gpu.uuid},
        {"sm_clock_mhz", gpu.sm_clock_mhz},
        {"most_sm_clock_mhz", gpu.most_sm_clock_mhz},
        {"throttle", gpu.throttle},
        {"throttled_ns", gpu.throttled_ns},
        {"temperature_c", gpu.temperature_c},
        {"power_w", gpu.power_w},
        {"power_limit_w", gpu.power_limit_w},
        {"most_power_limit_w", gpu.most_power_limit_w},
        {"ecc_corrected", gpu.ecc_corrected},
        {"ecc_uncorrected", gpu.ecc_uncorrected},
        {"rows_pending", flag(gpu.rows_pending)},
        {"rows_failed", flag(gpu.rows_failed)},
        {"persistence", flag(gpu.persistence)},
        {"mig", flag(gpu.mig)},
        {"compute_mode", gpu.compute_mode},
        {"nvlinks", gpu.nvlinks},
        {"active_nvlinks", gpu.active_nvlinks},
    };
}

template <class Value>
void take(const json& object, const char* name, Value& value) {
    if (object.contains(name)) value = object.at(name).get<Value>();
}

void take(const json& object, const char* name, std::optional<bool>& value) {
    if (object.contains(name) && !object.at(name).is_null()) value = object.at(name).get<bool>();
}

GpuState gpu_of(const json& object) {
    GpuState gpu;
    gpu.pci_id = object.at("pci_id").get<std::string>();
    take(object, "name", gpu.name);
    take(object, "uuid", gpu.uuid);
    take(object, "sm_clock_mhz", gpu.sm_clock_mhz);
    take(object, "most_sm_clock_mhz", gpu.most_sm_clock_mhz);
    take(object, "throttle", gpu.throttle);
    take(object, "throttled_ns", gpu.throttled_ns);
    take(object, "temperature_c", gpu.temperature_c);
    take(object, "power_w", gpu.power_w);
    take(object, "power_limit_w", gpu.power_limit_w);
    take(object, "most_power_limit_w", gpu.most_power_limit_w);
    take(object, "ecc_corrected", gpu.ecc_corrected);
    take(object, "ecc_uncorrected", gpu.ecc_uncorrected);
    take(object, "rows_pending", gpu.rows_pending);
    take(object, "rows_failed", gpu.rows_failed);
    take(object, "persistence", gpu.persistence);
    take(object, "mig", gpu.mig);
    take(object, "compute_mode", gpu.compute_mode);
    take(object, "nvlinks", gpu.nvlinks);
    take(object, "active_nvlinks", gpu.active_nvlinks);
    return gpu;
}

}  // namespace

std::string gpus_as_json(const std::vector<GpuState>& gpus) {
    json list = json::array();
    for (const GpuState& gpu : gpus) list.push_back(object_of(gpu));
    return list.dump(2) + "\n";
}

std::vector<GpuState> gpus_of_json(std::string_view text) {
    try {
        std::vector<GpuState> gpus;
        for (const json& object : json::parse(text)) gpus.push_back(gpu_of(object));
        return gpus;
    } catch (const json::exception& e) {
        throw Error{
            ExitCode::usage,
            std::string{"nvml.json is not the list of GPUs that --record writes: "} + e.what()};
    }
}

}  // namespace ringscope::health
