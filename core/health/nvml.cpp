// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <utility>

#include "health/pci.hpp"

namespace ringscope::health {
namespace {

constexpr const char* recorded_path = "/nvml.json";

// What is used of NVML, as NVIDIA's public documentation of the library's version 12 has it
// (docs.nvidia.com/deploy/nvml-api); functions with a number in their names keep their form for good.
using Device = void*;
using Status = int;
constexpr Status success = 0;
constexpr int sm_clock = 1, gpu_temperature = 0;
constexpr int power_policy = 0, thermal_policy = 1;
constexpr int corrected = 0, uncorrected = 1, since_driver_load = 0;
constexpr unsigned most_nvlinks = 18;

struct PciInfo {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct Violation {
    unsigned long long reference_us, violation_ns;
};

constexpr std::array<std::pair<unsigned long long, std::string_view>, 9> throttle_bits{{
    {0x001, throttle::idle},
    {0x002, throttle::application_clocks},
    {0x004, throttle::power_cap},
    {0x008, throttle::hardware_slowdown},
    {0x010, throttle::sync_boost},
    {0x020, throttle::thermal},
    {0x040, throttle::hardware_thermal},
    {0x080, throttle::power_brake},
    {0x100, throttle::display_clocks},
}};
constexpr std::array compute_modes{"default", "exclusive_thread", "prohibited", "exclusive_process"};

/// A function of the library; one that this driver does not have fails as any other does.
template <class... Arguments>
class Function {
 public:
    Function(void* library, const char* name)
        : call_{library ? reinterpret_cast<Status (*)(Arguments...)>(dlsym(library, name)) : nullptr} {}

    [[nodiscard]] bool operator()(Arguments... arguments) const {
        return call_ != nullptr && call_(arguments...) == success;
    }

 private:
    Status (*call_)(Arguments...);
};

/// The library, opened once and never closed: the driver's threads may be at work in it.
class Nvml {
 public:
    Nvml() : usable_{init_()} {}

    [[nodiscard]] std::vector<Device> devices() const {
        unsigned count = 0;
        if (!usable_ || !count_(&count)) return {};
        std::vector<Device> devices;
        for (unsigned i = 0; i < count; ++i) {
            Device device = nullptr;
            if (by_index_(i, &device)) devices.push_back(device);
        }
        return devices;
    }

    [[nodiscard]] Device device_at(const std::string& pci_id) const {
        Device device = nullptr;
        return usable_ && by_pci_id_(pci_id.c_str(), &device) ? device : nullptr;
    }

    void read_identity(Device device, GpuState& gpu) const {
        PciInfo pci{};
        if (pci_info_(device, &pci)) gpu.pci_id = pci_address(pci.id);
        std::array<char, 96> text{};
        if (name_(device, text.data(), text.size())) gpu.name = text.data();
        if (uuid_(device, text.data(), text.size())) gpu.uuid = text.data();
    }

    void read_vitals(Device device, GpuState& gpu) const {
        gpu.sm_clock_mhz = number(clock_, device, sm_clock);
        gpu.throttle = throttle_words(device);
        gpu.throttled_ns = throttled_ns(device);
        gpu.temperature_c = number(temperature_, device, gpu_temperature);
        gpu.power_w = watts(power_, device);
    }

    void read_settings(Device device, GpuState& gpu) const {
        gpu.most_sm_clock_mhz = number(most_clock_, device, sm_clock);
        gpu.power_limit_w = watts(power_limit_, device);
        unsigned least = 0, most = 0;
        if (power_limits_(device, &least, &most)) gpu.most_power_limit_w = most / 1000.0;
        int mode = 0;
        if (persistence_(device, &mode)) gpu.persistence = mode != 0;
        if (compute_mode_(device, &mode) && mode >= 0 && mode < std::ssize(compute_modes))
            gpu.compute_mode = compute_modes[static_cast<std::size_t>(mode)];
        unsigned now = 0, pending = 0;
        if (mig_(device, &now, &pending)) gpu.mig = now != 0;
    }

    void read_faults(Device device, GpuState& gpu) const {
        gpu.ecc_corrected = errors(device, corrected);
        gpu.ecc_uncorrected = errors(device, uncorrected);
        unsigned by_corrected = 0, by_uncorrected = 0, pending = 0, failed = 0;
        if (remapped_(device, &by_corrected, &by_uncorrected, &pending, &failed)) {
            gpu.rows_pending = pending != 0;
            gpu.rows_failed = failed != 0;
        }
    }

    /// Links that there are not have no state.
    void read_nvlinks(Device device, GpuState& gpu) const {
        gpu.nvlinks = 0;
        gpu.active_nvlinks = 0;
        for (unsigned link = 0; link < most_nvlinks; ++link) {
            int active = 0;
            if (!nvlink_(device, link, &active)) continue;
            ++gpu.nvlinks;
            gpu.active_nvlinks += active != 0 ? 1 : 0;
        }
    }

 private:
    template <class Get>
    static int number(const Get& get, Device device, int which) {
        unsigned value = 0;
        return get(device, which, &value) ? static_cast<int>(value) : -1;
    }
    static double watts(const Function<Device, unsigned*>& get, Device device) {
        unsigned milliwatts = 0;
        return get(device, &milliwatts) ? milliwatts / 1000.0 : -1;
    }
    [[nodiscard]] std::int64_t errors(Device device, int kind) const {
        unsigned long long count = 0;
        return ecc_(device, kind, since_driver_load, &count) ? static_cast<std::int64_t>(count) : -1;
    }
    [[nodiscard]] std::vector<std::string> throttle_words(Device device) const {
        unsigned long long bits = 0;
        std::vector<std::string> words;
        if (!throttle_(device, &bits)) return words;
        for (const auto& [bit, word] : throttle_bits) {
            if ((bits & bit) != 0) words.emplace_back(word);
        }
        return words;
    }
    [[nodiscard]] std::int64_t throttled_ns(Device device) const {
        Violation power{}, thermal{};
        const bool known = violation_(device, power_policy, &power);
        if (!violation_(device, thermal_policy, &thermal) && !known) return -1;
        return static_cast<std::int64_t>(power.violation_ns + thermal.violation_ns);
    }

    void* library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    Function<> init_{library_, "nvmlInit_v2"};
    Function<unsigned*> count_{library_, "nvmlDeviceGetCount_v2"};
    Function<unsigned, Device*> by_index_{library_, "nvmlDeviceGetHandleByIndex_v2"};
    Function<const char*, Device*> by_pci_id_{library_, "nvmlDeviceGetHandleByPciBusId_v2"};
    Function<Device, PciInfo*> pci_info_{library_, "nvmlDeviceGetPciInfo_v3"};
    Function<Device, char*, unsigned> name_{library_, "nvmlDeviceGetName"};
    Function<Device, char*, unsigned> uuid_{library_, "nvmlDeviceGetUUID"};
    Function<Device, int, unsigned*> clock_{library_, "nvmlDeviceGetClockInfo"};
    Function<Device, int, unsigned*> most_clock_{library_, "nvmlDeviceGetMaxClockInfo"};
    Function<Device, unsigned long long*> throttle_{library_, "nvmlDeviceGetCurrentClocksThrottleReasons"};
    Function<Device, int, Violation*> violation_{library_, "nvmlDeviceGetViolationStatus"};
    Function<Device, int, unsigned*> temperature_{library_, "nvmlDeviceGetTemperature"};
    Function<Device, unsigned*> power_{library_, "nvmlDeviceGetPowerUsage"};
    Function<Device, unsigned*> power_limit_{library_, "nvmlDeviceGetEnforcedPowerLimit"};
    Function<Device, unsigned*, unsigned*> power_limits_{
        library_, "nvmlDeviceGetPowerManagementLimitConstraints"};
    Function<Device, int, int, unsigned long long*> ecc_{library_, "nvmlDeviceGetTotalEccErrors"};
    Function<Device, unsigned*, unsigned*, unsigned*, unsigned*> remapped_{
        library_, "nvmlDeviceGetRemappedRows"};
    Function<Device, int*> persistence_{library_, "nvmlDeviceGetPersistenceMode"};
    Function<Device, int*> compute_mode_{library_, "nvmlDeviceGetComputeMode"};
    Function<Device, unsigned*, unsigned*> mig_{library_, "nvmlDeviceGetMigMode"};
    Function<Device, unsigned, int*> nvlink_{library_, "nvmlDeviceGetNvLinkState"};
    bool usable_;
};

const Nvml& nvml() {
    static const Nvml library;
    return library;
}

std::vector<GpuState> read_machine() {
    std::vector<GpuState> gpus;
    for (Device device : nvml().devices()) {
        GpuState& gpu = gpus.emplace_back();
        nvml().read_identity(device, gpu);
        nvml().read_vitals(device, gpu);
        nvml().read_settings(device, gpu);
        nvml().read_faults(device, gpu);
        nvml().read_nvlinks(device, gpu);
    }
    return gpus;
}

std::vector<GpuState> read_recorded(const Sources& sources) {
    Sources quiet = sources;
    quiet.recording = nullptr;
    const Text text = whole(quiet, recorded_path);
    return text ? gpus_of_json(*text) : std::vector<GpuState>{};
}

}  // namespace

std::vector<GpuState> read_gpus(const Sources& sources) {
    std::vector<GpuState> gpus = sources.is_machine() ? read_machine() : read_recorded(sources);
    if (sources.recording && !gpus.empty()) sources.recording->keep(recorded_path, gpus_as_json(gpus));
    return gpus;
}

std::optional<GpuState> read_vitals(const Sources& sources, std::string_view pci_id) {
    const std::string address = pci_address(pci_id);
    if (!sources.is_machine()) {
        const std::vector<GpuState> gpus = read_recorded(sources);
        const auto found = std::ranges::find(gpus, address, &GpuState::pci_id);
        return found == gpus.end() ? std::nullopt : std::optional{*found};
    }
    Device device = nvml().device_at(address);
    if (device == nullptr) return std::nullopt;
    GpuState gpu;
    gpu.pci_id = address;
    nvml().read_vitals(device, gpu);
    return gpu;
}

}  // namespace ringscope::health
