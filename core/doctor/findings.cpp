// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/findings.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ringscope::doctor {
namespace {

void append(std::vector<Finding>& all, std::vector<Finding>&& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<Finding> findings(const System& idle, const System& later, const Circumstances& circumstances) {
    std::vector<Finding> all = link_findings(idle, later, circumstances);
    append(all, gpu_findings(idle, later, circumstances));
    append(all, host_findings(later));
    return in_order(std::move(all));
}

bool peers_meet_over_pcie(const System& system) {
    const auto joined = std::ranges::count_if(system.gpus, [](const health::GpuState& gpu) {
        return gpu.active_nvlinks > 0;
    });
    return system.pci.gpus().size() >= 2 && joined < 2;
}

std::string text_of(const health::PciLink& link) {
    if (!link.known()) return "not known";
    return fmt::format(
        "{:g} GT/s x{} ({:.1f} GB/s)", link.gigatransfers, link.width, health::gigabytes_per_second(link)
    );
}

}  // namespace ringscope::doctor
