// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/finding.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace ringscope::doctor {
namespace {

constexpr std::array<std::string_view, 26> ids{
    id::xid,         id::remapped_rows, id::ecc,         id::peer_access, id::pcie_width,    id::pcie_speed,
    id::narrow_path, id::aer_errors,    id::nvlink_down, id::mig,         id::compute_mode,  id::throttled,
    id::cpu_quota,   id::shm_small,     id::memlock,     id::clocksource, id::acs_redirect,  id::iommu,
    id::numa,        id::aspm,          id::clocks,      id::version,     id::shared_switch, id::open_files,
    id::governor,    id::persistence,
};

auto rank_of(const Finding& finding) {
    return std::tuple{finding.severity, std::ranges::find(ids, finding.id), finding.where};
}

bool same_but_place(const Finding& a, const Finding& b) {
    Finding there = b;
    there.where = a.where;
    return a == there;
}

}  // namespace

std::span<const std::string_view> all_ids() {
    return ids;
}

std::vector<Finding> in_order(std::vector<Finding> findings) {
    std::ranges::stable_sort(findings, {}, rank_of);
    std::vector<Finding> merged;
    for (Finding& finding : findings) {
        const auto same =
            std::ranges::find_if(merged, [&](const Finding& f) { return same_but_place(f, finding); });
        if (same == merged.end()) {
            merged.push_back(std::move(finding));
        } else {
            same->where += ", " + finding.where;
        }
    }
    return merged;
}

}  // namespace ringscope::doctor
