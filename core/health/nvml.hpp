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

/// Why a GPU's clocks are not higher, as words of one letter case. "idle" and "application_clocks" are
/// nobody's fault.
namespace throttle {
inline constexpr std::string_view idle = "idle", application_clocks = "application_clocks",
                                  power_cap = "power_cap", hardware_slowdown = "hardware_slowdown",
                                  sync_boost = "sync_boost", thermal = "thermal",
                                  hardware_thermal = "hardware_thermal", power_brake = "power_brake",
                                  display_clocks = "display_clocks";
}  // namespace throttle

/// What NVIDIA's management library says of a GPU. Numbers are -1, words empty and flags absent where it does
/// not say.
struct GpuState {
    std::string pci_id{}, name{}, uuid{};
    int sm_clock_mhz = -1, most_sm_clock_mhz = -1;
    std::vector<std::string> throttle{};  ///< now; of the words above
    std::int64_t throttled_ns = -1;       ///< for power and heat together, since the driver was loaded
    int temperature_c = -1;
    double power_w = -1, power_limit_w = -1, most_power_limit_w = -1;
    std::int64_t ecc_corrected = -1, ecc_uncorrected = -1;  ///< since the driver was loaded
    std::optional<bool> rows_pending{}, rows_failed{};  ///< remapped rows: waiting for a reset; could not be
    std::optional<bool> persistence{}, mig{};
    std::string compute_mode{};  ///< default, exclusive_thread, prohibited, exclusive_process
    int nvlinks = -1, active_nvlinks = -1;
    bool operator==(const GpuState&) const = default;
};

/// All GPUs, in NVML's order. Of the machine by libnvidia-ml.so.1, opened at run time; of any other root from
/// its /nvml.json. None where there is neither, and none that is lost.
[[nodiscard]] std::vector<GpuState> read_gpus(const Sources& sources);

/// The fields that change while a GPU works: clock, throttling, temperature, power. The rest is not known.
[[nodiscard]] std::optional<GpuState> read_vitals(const Sources& sources, std::string_view pci_id);

/// The text of an nvml.json, and its inverse, in which every field but pci_id may be left out; Error{usage}
/// for text that is none.
[[nodiscard]] std::string gpus_as_json(const std::vector<GpuState>& gpus);
[[nodiscard]] std::vector<GpuState> gpus_of_json(std::string_view text);

}  // namespace ringscope::health
