// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "health/nvml.hpp"
#include "health/sources.hpp"
#include "tests/environment/fake_root.hpp"

namespace ringscope::health {

/// A PCI device as its folder in /sys shows it. Empty texts: the file is not there.
struct FakeDevice {
    std::string class_code = "0x060400", vendor = "0x8086", device = "0x0001";
    std::string speed{}, width{}, most_speed{}, most_width{};
    std::string correctable = "0", nonfatal = "0", fatal = "0";
    std::string numa_node = "-1";
};

inline FakeDevice with_link(FakeDevice device, std::string speed, std::string width) {
    device.speed = device.most_speed = std::move(speed);
    device.width = device.most_width = std::move(width);
    return device;
}

inline FakeDevice gpu_at(std::string speed, std::string width) {
    FakeDevice device{.class_code = "0x030200", .vendor = "0x10de", .device = "0x2335"};
    device.most_speed = "32.0 GT/s PCIe";
    device.most_width = "16";
    device.speed = std::move(speed);
    device.width = std::move(width);
    return device;
}

/// Builds the files of a machine, as the kernel lays them out.
class FakeMachine {
 public:
    [[nodiscard]] Sources sources() const { return {.root = path()}; }
    [[nodiscard]] const std::filesystem::path& path() const { return root_.path(); }

    FakeMachine& file(const std::string& path, const std::string& text) {
        root_.write(path, text);
        return *this;
    }

    /// A device below these, the root's port first; the last address is its own.
    FakeMachine& device(const std::vector<std::string>& chain, const FakeDevice& device) {
        namespace fs = std::filesystem;
        std::string folder = "devices/pci" + chain.front().substr(0, 7);
        for (const std::string& address : chain) folder += "/" + address;
        fs::create_directories(path() / "sys" / folder);
        const fs::path links = path() / "sys/bus/pci/devices";
        fs::create_directories(links);
        fs::create_symlink("../../../" + folder, links / chain.back());
        describe(chain.back(), device);
        return *this;
    }

    /// Writes a device's files; also of one that is there already. "loaded" before the address: what it is
    /// under load.
    void describe(const std::string& address, const FakeDevice& device, const std::string& over = "") {
        const auto write = [&](const std::string& name, const std::string& text) {
            if (!text.empty()) file(over + "/sys/bus/pci/devices/" + address + "/" + name, text + "\n");
        };
        write("class", device.class_code);
        write("vendor", device.vendor);
        write("device", device.device);
        write("current_link_speed", device.speed);
        write("current_link_width", device.width);
        write("max_link_speed", device.most_speed);
        write("max_link_width", device.most_width);
        write("numa_node", device.numa_node);
        write("aer_dev_correctable", errors("COR", device.correctable));
        write("aer_dev_nonfatal", errors("NONFATAL", device.nonfatal));
        write("aer_dev_fatal", errors("FATAL", device.fatal));
    }

    FakeMachine& gpus(const std::vector<GpuState>& gpus) { return file("/nvml.json", gpus_as_json(gpus)); }

 private:
    static std::string errors(const std::string& kind, const std::string& total) {
        if (total.empty()) return "";
        return "Receiver Error " + total + "\nBad TLP 0\nTOTAL_ERR_" + kind + " " + total;
    }

    environment::FakeRoot root_;
};

/// A configuration space with the PCI Express capability at 0x40 and, behind another extended capability, ACS
/// at 0x148.
inline std::string config_space(unsigned link_control, unsigned acs_control) {
    std::string bytes(4096, '\0');
    const auto put = [&](std::size_t at, unsigned word) {
        bytes[at] = static_cast<char>(word & 0xffu);
        bytes[at + 1] = static_cast<char>(word >> 8 & 0xffu);
    };
    put(0x06, 0x0010);        // it has a list of capabilities
    put(0x34, 0x0040);        // which begins here
    put(0x40, 0x0010);        // PCI Express, the last of them
    put(0x50, link_control);  // 0x10 into it
    put(0x100, 0x0001);       // AER
    put(0x102, 0x1481);       // version 1, the next is at 0x148
    put(0x148, 0x000d);       // ACS
    put(0x14a, 0x0001);       // version 1, the last
    put(0x14e, acs_control);  // 6 into it
    return bytes;
}

}  // namespace ringscope::health
