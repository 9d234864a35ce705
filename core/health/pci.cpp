// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/pci.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <span>

namespace ringscope::health {
namespace {

constexpr std::uint16_t nvidia = 0x10de, red_hat = 0x1b36;
constexpr int widest = 32;
constexpr const char* folder = "/sys/bus/pci/devices/";

bool is_address(std::string_view text) {
    constexpr std::string_view form = "xxxx:xx:xx.x";
    if (text.size() < form.size()) return false;
    const std::string_view domain = text.substr(0, text.size() - 8), rest = text.substr(text.size() - 8);
    const auto hex = [](char letter) { return std::isxdigit(static_cast<unsigned char>(letter)) != 0; };
    if (!std::ranges::all_of(domain, hex)) return false;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const char wanted = form[i + 4];
        if (wanted == 'x' ? !hex(rest[i]) : rest[i] != wanted) return false;
    }
    return true;
}

std::uint32_t hex_number(const Text& text) {
    return text ? static_cast<std::uint32_t>(std::strtoul(text->c_str(), nullptr, 16)) : 0;
}

/// "16.0 GT/s PCIe"; "Unknown" is not known.
double speed_of(const Text& text) {
    return text ? std::strtod(text->c_str(), nullptr) : 0;
}

/// 255 and 63 are what a device that is gone says.
int width_of(const Text& text) {
    const std::int64_t lanes = number_in(text);
    return lanes > 0 && lanes <= widest ? static_cast<int>(lanes) : 0;
}

std::int64_t total_of(const Text& text, std::string_view name) {
    const std::size_t at = text ? text->find(name) : std::string::npos;
    return at == std::string::npos ? -1
                                   : number_in(trimmed(std::string_view{*text}.substr(at + name.size())));
}

class Files {
 public:
    Files(const Sources& sources, std::string_view address)
        : sources_{sources}, folder_{folder + std::string{address} + "/"} {}

    [[nodiscard]] Text line(const char* name) const { return first_line(sources_, folder_ + name); }
    [[nodiscard]] Text all(const char* name) const { return whole(sources_, folder_ + name); }

 private:
    const Sources& sources_;
    std::string folder_;
};

PciLink link_now(const Files& files) {
    return {speed_of(files.line("current_link_speed")), width_of(files.line("current_link_width"))};
}

PciErrors errors_now(const Files& files) {
    return {
        total_of(files.all("aer_dev_correctable"), "TOTAL_ERR_COR"),
        total_of(files.all("aer_dev_nonfatal"), "TOTAL_ERR_NONFATAL"),
        total_of(files.all("aer_dev_fatal"), "TOTAL_ERR_FATAL")};
}

std::optional<bool> aspm_by_files(const Files& files) {
    const Text l0s = files.line("link/l0s_aspm"), l1 = files.line("link/l1_aspm");
    if (!l0s && !l1) return std::nullopt;
    return l0s == "1" || l1 == "1";
}

/// The chain of addresses from the root down, of a link's target
/// "../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0".
std::vector<std::string> chain_of(const std::filesystem::path& target) {
    std::vector<std::string> chain;
    for (const auto& part : target) {
        if (is_address(part.string())) chain.push_back(part.string());
    }
    return chain;
}

PciDevice read_identity(const Sources& sources, const std::string& address, std::string parent) {
    const Files files{sources, address};
    PciDevice device;
    device.address = address;
    device.parent = std::move(parent);
    device.class_code = hex_number(files.line("class"));
    device.vendor = static_cast<std::uint16_t>(hex_number(files.line("vendor")));
    device.device = static_cast<std::uint16_t>(hex_number(files.line("device")));
    device.numa_node = static_cast<int>(number_in(files.line("numa_node")));
    return device;
}

void read_state(const Files& files, PciDevice& device) {
    device.now = link_now(files);
    device.most = {speed_of(files.line("max_link_speed")), width_of(files.line("max_link_width"))};
    device.errors = errors_now(files);
}

void read_settings(const Files& files, PciDevice& device) {
    device.aspm = aspm_by_files(files);
    device.iommu = files.line("iommu_group/type").value_or("");
}

/// The configuration space of a PCI Express device, little-endian. Users other than root see 64 bytes of it.
class ConfigSpace {
 public:
    explicit ConfigSpace(const std::string& bytes) : bytes_{bytes} {}

    /// Bits of the link control register that let the link sleep.
    [[nodiscard]] std::optional<bool> aspm() const {
        const std::size_t at = capability(0x10);
        if (at == 0 || !has(at + 0x12)) return std::nullopt;
        return (word(at + 0x10) & 3u) != 0;
    }

    /// P2P Request Redirect and Completion Redirect of the ACS control register.
    [[nodiscard]] std::optional<bool> acs_redirect() const {
        if (!has(0x104)) return std::nullopt;
        const std::size_t at = extended_capability(0x000d);
        if (at == 0) return false;
        if (!has(at + 8)) return std::nullopt;
        return (word(at + 6) & 0x0cu) != 0;
    }

 private:
    [[nodiscard]] bool has(std::size_t end) const { return end <= bytes_.size(); }
    [[nodiscard]] std::uint32_t byte(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
    [[nodiscard]] std::uint32_t word(std::size_t at) const { return byte(at) | byte(at + 1) << 8; }

    [[nodiscard]] std::size_t capability(std::uint32_t id) const {
        if (!has(0x40) || (word(0x06) & 0x10u) == 0) return 0;
        std::size_t at = byte(0x34) & 0xfcu;
        for (int steps = 0; at >= 0x40 && has(at + 2) && steps < 48; ++steps) {
            if (byte(at) == id) return at;
            at = byte(at + 1) & 0xfcu;
        }
        return 0;
    }

    [[nodiscard]] std::size_t extended_capability(std::uint32_t id) const {
        std::size_t at = 0x100;
        for (int steps = 0; at >= 0x100 && has(at + 4) && steps < 480; ++steps) {
            if (word(at) == id) return at;
            at = word(at + 2) >> 4;
        }
        return 0;
    }

    const std::string& bytes_;
};

void read_config(const Sources& sources, PciDevice& device) {
    const Text bytes = Files{sources, device.address}.all("config");
    if (!bytes) return;
    const ConfigSpace space{*bytes};
    if (!device.aspm) device.aspm = space.aspm();
    if (is_bridge(device)) device.acs_redirect = space.acs_redirect();
}

PciLink best_of(const PciLink& a, const PciLink& b) {
    return {std::max(a.gigatransfers, b.gigatransfers), std::max(a.width, b.width)};
}

bool says_less_than(const PciLink& most, const PciLink& runs) {
    return (most.gigatransfers > 0 && most.gigatransfers < runs.gigatransfers) ||
           (most.width > 0 && most.width < runs.width);
}

}  // namespace

double gigabytes_per_second(const PciLink& link) {
    double encoding = 128.0 / 130.0;
    if (link.gigatransfers <= 5) encoding = 8.0 / 10.0;
    if (link.gigatransfers > 32) encoding = 236.0 / 256.0;
    return link.gigatransfers * link.width * encoding / 8;
}

std::string_view PciDevice::slot() const {
    return std::string_view{address}.substr(0, address.find('.'));
}

bool is_gpu(const PciDevice& device) {
    return device.vendor == nvidia && device.class_code >> 16 == 0x03;
}

bool is_bridge(const PciDevice& device) {
    return device.class_code >> 8 == 0x0604;
}

bool is_made_up(const PciDevice& port) {
    return port.vendor == red_hat;
}

PciLink PathLink::most() const {
    if (!upper_most.known()) return lower_most;
    if (!lower_most.known()) return upper_most;
    return {
        std::min(lower_most.gigatransfers, upper_most.gigatransfers),
        std::min(lower_most.width, upper_most.width)};
}

std::string pci_address(std::string_view text) {
    std::string address{text};
    std::ranges::transform(address, address.begin(), [](unsigned char letter) {
        return std::tolower(letter);
    });
    if (std::ranges::count(address, ':') == 1) address.insert(0, "0000:");
    if (address.find('.') == std::string::npos) address += ".0";
    while (address.find(':') > 4 && address.find(':') != std::string::npos && address.front() == '0')
        address.erase(0, 1);
    return address;
}

PciTree PciTree::read(const Sources& sources) {
    PciTree tree;
    for (const std::string& name : names_in(sources, "/sys/bus/pci/devices")) {
        const std::vector<std::string> chain = chain_of(link_target(sources, folder + name));
        const std::string parent = chain.size() > 1 ? chain[chain.size() - 2] : "";
        tree.devices_.emplace(name, read_identity(sources, name, parent));
    }
    for (const PciDevice* gpu : tree.gpus()) {
        for (const PciDevice* device : tree.path(gpu->address)) tree.sampled_.insert(device->address);
    }
    for (const std::string& address : tree.sampled_) {
        PciDevice& device = tree.devices_.at(address);
        read_state({sources, address}, device);
        read_settings({sources, address}, device);
        read_config(sources, device);
    }
    return tree;
}

PciTree PciTree::read_path(const Sources& sources, std::string_view address) {
    PciTree tree;
    std::string parent;
    for (const std::string& name : chain_of(link_target(sources, folder + pci_address(address)))) {
        const Files files{sources, name};
        PciDevice& device = tree.devices_[name];
        device.address = name;
        device.parent = parent;
        device.vendor = static_cast<std::uint16_t>(hex_number(files.line("vendor")));
        read_state(files, device);
        tree.sampled_.insert(name);
        parent = name;
    }
    return tree;
}

void PciTree::sample_again(const Sources& sources) {
    for (const std::string& address : sampled_) {
        PciDevice& device = devices_.at(address);
        const Files files{sources, address};
        device.now = best_of(device.now, link_now(files));
        device.errors = errors_now(files);
    }
}

const PciDevice* PciTree::find(std::string_view address) const {
    const auto found = devices_.find(pci_address(address));
    return found == devices_.end() ? nullptr : &found->second;
}

std::vector<const PciDevice*> PciTree::path(std::string_view address) const {
    std::vector<const PciDevice*> way;
    for (const PciDevice* at = find(address); at != nullptr; at = find(at->parent)) way.push_back(at);
    return way;
}

std::vector<const PciDevice*> PciTree::below(std::string_view address) const {
    const std::string bridge = pci_address(address);
    std::vector<const PciDevice*> found;
    for (const auto& [name, device] : devices_) {
        const std::vector<const PciDevice*> way = path(name);
        const auto is_it = [&](const PciDevice* at) { return at->address == bridge; };
        if (name != bridge && std::ranges::any_of(way, is_it)) found.push_back(&device);
    }
    return found;
}

std::vector<PathLink> PciTree::links(std::string_view address) const {
    const std::vector<const PciDevice*> way = path(address);
    std::vector<PathLink> links;
    for (std::size_t i = 0; i < way.size(); i += 2) {
        const PciDevice& lower = *way[i];
        PathLink link{
            .lower = lower.address,
            .upper = "",
            .now = lower.now,
            .lower_most = lower.most,
            .upper_most = {}};
        const PciDevice* upper = i + 1 < way.size() ? way[i + 1] : nullptr;
        const bool trusted =
            upper != nullptr && !is_made_up(*upper) && !says_less_than(upper->most, lower.now);
        if (is_made_up(lower)) break;
        if (trusted) {
            link.upper = upper->address;
            link.upper_most = upper->most;
            if (!link.now.known()) link.now = upper->now;
        }
        links.push_back(link);
        if (!trusted) break;
    }
    return links;
}

std::vector<const PciDevice*> PciTree::gpus() const {
    std::vector<const PciDevice*> found;
    for (const auto& [name, device] : devices_) {
        if (is_gpu(device)) found.push_back(&device);
    }
    return found;
}

}  // namespace ringscope::health
