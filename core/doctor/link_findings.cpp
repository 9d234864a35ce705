// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "doctor/findings.hpp"

namespace ringscope::doctor {
namespace {

using health::PathLink;
using health::PciDevice;
using health::PciErrors;
using health::PciLink;
using health::PciTree;

constexpr const char* slow_copies =
    "every byte between this GPU and the host, and to peers that NVLink does not join, crosses this link";
constexpr const char* reseat =
    "reseat the card and its riser or cable, clean the contacts, try another slot; fix the slot's generation "
    "in the BIOS; a link that falls back is often the first sign of a GPU that will drop off the bus";

/// A link of a GPU's way, as it was seen the first time and the second.
struct Seen {
    PathLink link;
    PciLink idle, later;
    bool own;     ///< the GPU's own link, not one above
    bool loaded;  ///< the second time data moved over it
    bool errors_grew;

    /// A link that works is judged as it works; one that sleeps may sleep in one of two samples only.
    [[nodiscard]] PciLink judged() const {
        if (loaded && later.known()) return later;
        return {std::max(idle.gigatransfers, later.gigatransfers), std::max(idle.width, later.width)};
    }
    [[nodiscard]] std::string where() const {
        return link.lower + (link.upper.empty() ? "" : " below " + link.upper);
    }
    [[nodiscard]] std::string evidence() const {
        std::string text = loaded
                               ? "runs at " + text_of(judged()) + " under load, " + text_of(idle) + " before"
                               : "runs at " + text_of(judged()) + ", seen without load";
        text += "; " + link.lower + " can do " + text_of(link.lower_most);
        if (!link.upper.empty()) text += ", " + link.upper + " above it " + text_of(link.upper_most);
        return text;
    }
};

bool grew(std::int64_t before, std::int64_t after) {
    return before >= 0 && after > before;
}

bool grew(const PciErrors& before, const PciErrors& after) {
    return grew(before.correctable, after.correctable) || grew(before.nonfatal, after.nonfatal) ||
           grew(before.fatal, after.fatal);
}

bool errors_grew(const System& idle, const System& later, const std::string& address) {
    const PciDevice* before = idle.pci.find(address);
    const PciDevice* after = later.pci.find(address);
    return before != nullptr && after != nullptr && grew(before->errors, after->errors);
}

Seen seen(const System& idle, const System& later, const PathLink& link) {
    const PciDevice* before = idle.pci.find(link.lower);
    return {
        .link = link,
        .idle = before ? before->now : PciLink{},
        .later = link.now,
        .own = false,
        .loaded = false,
        .errors_grew = errors_grew(idle, later, link.lower) || errors_grew(idle, later, link.upper)};
}

/// Each link of all GPUs' ways once.
std::vector<std::vector<Seen>> ways(
    const System& idle, const System& later, const Circumstances& circumstances
) {
    std::set<std::string> loaded;
    for (const std::string& gpu : circumstances.loaded) {
        for (const PathLink& link : later.pci.links(gpu)) loaded.insert(link.lower);
    }
    std::set<std::string> known;
    std::vector<std::vector<Seen>> ways;
    for (const PciDevice* gpu : later.pci.gpus()) {
        std::vector<Seen>& way = ways.emplace_back();
        for (const PathLink& link : later.pci.links(gpu->address)) {
            if (!known.insert(link.lower).second) continue;
            Seen& one = way.emplace_back(seen(idle, later, link));
            one.own = link.lower == gpu->address;
            one.loaded = loaded.contains(link.lower);
        }
    }
    return ways;
}

bool is_narrow(const Seen& seen) {
    const int width = seen.judged().width;
    return width > 0 && width < seen.link.most().width;
}

bool is_slow(const Seen& seen) {
    const double speed = seen.judged().gigatransfers;
    return speed > 0 && speed < seen.link.most().gigatransfers;
}

Finding width_finding(const Seen& seen, bool by_slot) {
    const double share =
        100.0 * seen.judged().width / std::max(seen.link.lower_most.width, seen.link.most().width);
    return {
        Severity::harm,
        id::pcie_width,
        seen.where(),
        seen.evidence(),
        fmt::format("{:.0f} % of the lanes: {}", share, slow_copies),
        by_slot
            ? "the port has fewer lanes than the card: move the card to a wider slot, or see in the BIOS how "
              "the slots share their lanes"
            : reseat};
}

/// A link without load may sleep, unless something else says that it does not.
Severity severity_of_speed(const Seen& seen) {
    if (!seen.loaded) return seen.errors_grew || is_narrow(seen) ? Severity::harm : Severity::note;
    // What a port that cannot be seen can do is not known; no slot in use is two generations behind its card.
    const bool far_below = seen.judged().gigatransfers < seen.link.most().gigatransfers / 2;
    return !seen.link.upper.empty() || far_below ? Severity::harm : Severity::note;
}

Finding speed_finding(const Seen& seen) {
    const Severity severity = severity_of_speed(seen);
    const bool may_sleep = !seen.loaded && severity == Severity::note;
    return {
        severity,
        id::pcie_speed,
        seen.where(),
        seen.evidence(),
        may_sleep ? std::string{"none if the link only sleeps, as links do without load; else "} + slow_copies
                  : std::string{slow_copies},
        may_sleep ? "look again while the GPU copies: ringscope doctor in a build with CUDA does" : reseat};
}

/// The port can do less than the card.
std::vector<Finding> slot_findings(const Seen& seen) {
    std::vector<Finding> found;
    const PciLink card = seen.link.lower_most, port = seen.link.upper_most;
    if (!port.known() || !card.known()) return found;
    if (port.width < card.width) found.push_back(width_finding(seen, true));
    if (port.gigatransfers < card.gigatransfers)
        found.push_back(
            {Severity::note, id::pcie_speed, seen.where(), seen.evidence(),
             std::string{"the port is of an older generation than the card: "} + slow_copies,
             "nothing is broken; a slot or machine of the card's generation would be faster"}
        );
    return found;
}

std::vector<Finding> own_findings(const Seen& seen) {
    std::vector<Finding> found;
    if (is_narrow(seen)) found.push_back(width_finding(seen, false));
    if (is_slow(seen)) found.push_back(speed_finding(seen));
    if (!seen.own) return found;
    for (Finding& finding : slot_findings(seen)) {
        const bool told = std::ranges::any_of(found, [&](const Finding& f) { return f.id == finding.id; });
        if (!told) found.push_back(std::move(finding));
    }
    return found;
}

/// A link above that can do less than the GPU's own, though nothing is wrong with either.
std::optional<Finding> narrow_path(const PathLink& own, const Seen& above) {
    const double wanted = gigabytes_per_second(own.most()), there = gigabytes_per_second(above.link.most());
    if (there <= 0 || wanted <= there * 1.001) return std::nullopt;
    return Finding{
        Severity::harm,
        id::narrow_path,
        above.where(),
        fmt::format(
            "the link above the switch can do {}, that of GPU {} below it {}", text_of(above.link.most()),
            own.lower, text_of(own.most())
        ),
        fmt::format(
            "copies to and from the host get {:.1f} of {:.1f} GB/s, and all GPUs below share it; the GPU's "
            "own "
            "link looks healthy",
            there, wanted
        ),
        "move the GPU to a slot of the processor, or the switch to a wider slot; let peers below one switch "
        "talk "
        "to each other"};
}

std::vector<Finding> way_findings(const PciTree& tree, const std::vector<Seen>& way, const std::string& gpu) {
    std::vector<Finding> found;
    for (const Seen& seen : way) {
        std::vector<Finding> own = own_findings(seen);
        if (!seen.own) {
            if (auto narrow = narrow_path(tree.links(gpu).front(), seen)) own.push_back(std::move(*narrow));
        }
        found.insert(found.end(), own.begin(), own.end());
    }
    return found;
}

/// Of those that are known.
std::string counts(const PciErrors& errors) {
    std::vector<std::string> words;
    if (errors.correctable >= 0) words.push_back(fmt::format("{} correctable", errors.correctable));
    if (errors.nonfatal >= 0) words.push_back(fmt::format("{} nonfatal", errors.nonfatal));
    if (errors.fatal >= 0) words.push_back(fmt::format("{} fatal", errors.fatal));
    return join(words, ", ");
}

constexpr const char* aer_effect =
    "each corrected error is a packet sent again, which costs time; many of them come before a GPU that "
    "drops "
    "off the bus, and what was running is lost";

std::optional<Finding> aer_by_counts(const PciErrors& before, const PciDevice& device) {
    const PciErrors& now = device.errors;
    if (grew(before, now))
        return Finding{
            Severity::harm,
            id::aer_errors,
            device.address,
            counts(now) + " errors, and growing while this command looked: before " + counts(before),
            aer_effect,
            reseat};
    if (now.nonfatal > 0 || now.fatal > 0)
        return Finding{Severity::harm, id::aer_errors, device.address, counts(now) + " errors since start",
                       aer_effect,     reseat};
    if (now.correctable > 0)
        return Finding{
            Severity::note, id::aer_errors,
            device.address, counts(now) + " errors since start",
            aer_effect,     "look whether the count grows under load; then do as for a link that falls back"};
    return std::nullopt;
}

/// Where the kernel does not count, its log may tell.
std::optional<Finding> aer_by_log(const System& system, const PciDevice& device) {
    if (!system.log) return std::nullopt;
    std::int64_t corrected = 0, others = 0;
    for (const health::KernelMessage& message : *system.log) {
        if (message.kind != health::KernelMessage::Kind::aer || message.pci_id != device.address) continue;
        ++(message.severity == "corrected" ? corrected : others);
    }
    if (corrected + others == 0) return std::nullopt;
    return Finding{
        others > 0 ? Severity::harm : Severity::note,
        id::aer_errors,
        device.address,
        fmt::format("{} messages of corrected and {} of other errors in the kernel's log", corrected, others),
        aer_effect,
        reseat};
}

std::vector<Finding> aer_findings(const System& idle, const System& later) {
    std::set<std::string> looked_at;
    std::vector<Finding> found;
    for (const PciDevice* gpu : later.pci.gpus()) {
        for (const PciDevice* device : later.pci.path(gpu->address)) {
            if (!looked_at.insert(device->address).second) continue;
            const PciDevice* before = idle.pci.find(device->address);
            const bool counted = device->errors != PciErrors{};
            auto finding = counted ? aer_by_counts(before ? before->errors : PciErrors{}, *device)
                                   : aer_by_log(later, *device);
            if (finding) found.push_back(std::move(*finding));
        }
    }
    return found;
}

bool may_disturb(const PciDevice& device) {
    const std::uint32_t kind = device.class_code >> 16;
    return kind == 0x01 || kind == 0x02;  // storage, network
}

/// The nearest port above a GPU with disks or network cards below it.
std::optional<std::pair<std::string, std::vector<std::string>>> shared_port(
    const PciTree& tree, const PciDevice& gpu
) {
    for (const PciDevice* port : tree.path(gpu.address)) {
        if (port->address == gpu.address) continue;
        if (is_made_up(*port)) return std::nullopt;
        std::vector<std::string> others;
        for (const PciDevice* device : tree.below(port->address)) {
            if (may_disturb(*device) && device->slot() != gpu.slot()) others.push_back(device->address);
        }
        if (!others.empty()) return std::pair{port->address, others};
    }
    return std::nullopt;
}

std::vector<Finding> sharing_findings(const PciTree& tree) {
    std::vector<Finding> found;
    for (const PciDevice* gpu : tree.gpus()) {
        const auto shared = shared_port(tree, *gpu);
        if (!shared) continue;
        found.push_back(
            {Severity::note, id::shared_switch, gpu->address,
             fmt::format("below port {} are also {}", shared->first, join(shared->second, ", ")),
             "their traffic shares the links above with the GPU's; an error of theirs can take the GPU along",
             "measure while they are quiet; for traffic between GPU and network card the shared switch is an "
             "advantage"}
        );
    }
    return found;
}

bool is_saving(const std::string& policy) {
    return policy == "powersave" || policy == "powersupersave";
}

std::vector<Finding> aspm_findings(const System& system) {
    std::vector<std::string> sleepy;
    bool all_known = true;
    for (const PciDevice* gpu : system.pci.gpus()) {
        for (const PciDevice* device : system.pci.path(gpu->address)) {
            if (is_made_up(*device)) break;
            all_known = all_known && device->aspm.has_value();
            if (device->aspm.value_or(false)) sleepy.push_back(device->address);
        }
    }
    std::ranges::sort(sleepy);
    sleepy.erase(std::unique(sleepy.begin(), sleepy.end()), sleepy.end());
    const std::string& policy = system.host.aspm_policy;
    const bool saving = is_saving(policy) && !system.pci.gpus().empty();
    if (sleepy.empty() && !saving) return {};
    const std::string where = sleepy.empty() ? "all links" : join(sleepy, ", ");
    const bool harms = saving && (!sleepy.empty() || !all_known);
    return {Finding{
        harms ? Severity::harm : Severity::note, id::aspm, where,
        (policy.empty() ? std::string{"the policy is not known"} : "the policy is " + policy) +
            (sleepy.empty() ? "" : "; these links may sleep"),
        "a link that sleeps needs microseconds to wake, in each burst anew, and changes of speed under "
        "bursts "
        "have cost links",
        "boot with pcie_aspm=off, or write performance into /sys/module/pcie_aspm/parameters/policy"}};
}

/// Ports below which packets between two GPUs would turn around, were they not sent upwards.
bool joins_gpus(const PciTree& tree, const PciDevice& port) {
    const PciDevice* above = tree.find(port.parent);
    if (above == nullptr) return false;
    return std::ranges::count_if(tree.below(above->address), [](const PciDevice* d) { return is_gpu(*d); }) >=
           2;
}

std::vector<Finding> acs_findings(const System& system) {
    std::set<std::string> redirecting;
    bool turns = false;
    for (const PciDevice* gpu : system.pci.gpus()) {
        for (const PciDevice* port : system.pci.path(gpu->address)) {
            if (!port->acs_redirect.value_or(false) || is_made_up(*port)) continue;
            redirecting.insert(port->address);
            turns = turns || joins_gpus(system.pci, *port);
        }
    }
    if (redirecting.empty() || system.pci.gpus().size() < 2) return {};
    const bool harms = turns && peers_meet_over_pcie(system);
    const std::string iommu = system.pci.gpus().front()->iommu;
    return {Finding{
        harms ? Severity::harm : Severity::note, id::acs_redirect,
        join(std::vector<std::string>{redirecting.begin(), redirecting.end()}, ", "),
        "requests or completions between peers are redirected (ACS control RR, CR); IOMMU: " +
            (iommu.empty() ? "not known" : iommu),
        "what one GPU sends to another below the same switch goes up to the root complex and back, which "
        "halves "
        "its bandwidth, and on some machines hangs",
        "turn ACS off on these ports (BIOS, or setpci on the control register at each boot) where no virtual "
        "machine needs it"}};
}

bool translates(const PciDevice& gpu) {
    return gpu.iommu == "DMA" || gpu.iommu == "DMA-FQ";
}

std::vector<Finding> iommu_findings(const System& system, const Circumstances& circumstances) {
    std::vector<Finding> found;
    const bool works = circumstances.pairs && circumstances.pairs->passed();
    const bool harms = peers_meet_over_pcie(system) && !works;
    for (const PciDevice* gpu : system.pci.gpus()) {
        if (!translates(*gpu)) continue;
        found.push_back(
            {harms ? Severity::harm : Severity::note, id::iommu, gpu->address,
             "the IOMMU translates its addresses (" + gpu->iommu + ")",
             "each address of a transfer is looked up; between peers over PCIe it has meant hangs and wrong "
             "data",
             "boot with iommu=pt, or turn the IOMMU off where no virtual machine needs it"}
        );
    }
    return found;
}

void append(std::vector<Finding>& all, std::vector<Finding>&& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<Finding> link_findings(
    const System& idle, const System& later, const Circumstances& circumstances
) {
    std::vector<Finding> all;
    const std::vector<PciDevice const*> gpus = later.pci.gpus();
    const std::vector<std::vector<Seen>> seen = ways(idle, later, circumstances);
    for (std::size_t i = 0; i < gpus.size(); ++i)
        append(all, way_findings(later.pci, seen[i], gpus[i]->address));
    append(all, aer_findings(idle, later));
    append(all, sharing_findings(later.pci));
    append(all, aspm_findings(later));
    append(all, acs_findings(later));
    append(all, iommu_findings(later, circumstances));
    return all;
}

}  // namespace ringscope::doctor
