// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/health_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "health/nvml.hpp"
#include "trace/marks.hpp"

namespace ringscope::bench {
namespace {

using trace::HealthRow;
using Changes = std::vector<HealthChange>;

/// An idle link saves power by its speed; one that was in use for so long has none to save.
constexpr std::int64_t shortest_load_ns = 100'000'000;
/// The share of the time between two readings for which a clock may be held down.
constexpr double most_throttled = 0.01;
/// Speeds are a few steps of a factor of two; less than this is rounding.
constexpr double rounding = 0.99;

/// Words that say by themselves that a clock is too low. A cap on power is told by throttled_ns alone: as a
/// word it also stands at GPUs with nothing to do.
constexpr std::array slowdowns{
    health::throttle::hardware_slowdown, health::throttle::thermal, health::throttle::hardware_thermal,
    health::throttle::power_brake};

std::string name_of(const HealthRow& row) {
    return row.device == trace::host_device ? "the host of rank " + std::to_string(row.rank) : row.device;
}

void add(Changes& changes, const char* mark, const HealthRow& row, const std::string& what) {
    changes.push_back({mark, name_of(row) + ": " + what});
}

void compare_errors(const HealthRow& last, const HealthRow& row, Changes& changes) {
    constexpr std::pair<const char*, std::int64_t HealthRow::*> counters[] = {
        {"corrected", &HealthRow::aer_correctable},
        {"uncorrected", &HealthRow::aer_nonfatal},
        {"fatal", &HealthRow::aer_fatal}};
    for (const auto& [kind, counter] : counters) {
        const std::int64_t more = row.*counter - last.*counter;
        if (last.*counter < 0 || more <= 0) continue;
        add(changes, "aer-errors", row, fmt::format("{} more {} PCIe errors", more, kind));
    }
}

void compare_xids(const HealthRow& last, const HealthRow& row, Changes& changes) {
    const std::int64_t more = row.xids - last.xids;
    if (last.xids < 0 || more <= 0) return;
    add(changes, "xid", row, fmt::format("{} more Xid in the kernel's log", more));
}

std::string slowdown_of(const HealthRow& row) {
    std::istringstream words{row.throttle};
    std::string found;
    for (std::string word; words >> word;) {
        if (std::ranges::find(slowdowns, word) != slowdowns.end()) found += (found.empty() ? "" : " ") + word;
    }
    return found;
}

/// How much of the time since the reading before a clock was held down; 0 where that is not known. The times
/// of several processors add up.
double throttled_share(const HealthRow& last, const HealthRow& row) {
    const std::int64_t passed = row.time_ns - last.time_ns, held = row.throttled_ns - last.throttled_ns;
    if (last.throttled_ns < 0 || passed <= 0 || held <= 0) return 0;
    return std::min(1.0, static_cast<double>(held) / static_cast<double>(passed));
}

void compare_clocks(const HealthRow& last, const HealthRow& row, Changes& changes) {
    const double share = throttled_share(last, row);
    const std::string slowdown = slowdown_of(row);
    const std::string why = slowdown.empty() ? "" : " (" + slowdown + ")";
    if (share > most_throttled) {
        add(changes, "throttled", row, fmt::format("held down for {:.0f} % of the time{}", 100 * share, why));
    } else if (!slowdown.empty()) {
        add(changes, "throttled", row, "held down" + why);
    }
}

}  // namespace

std::vector<HealthChange> HealthWatch::compare(const std::vector<HealthRow>& rows, const LinkLoad& load) {
    Changes changes;
    for (const HealthRow& row : rows) {
        const auto [place, is_new] = known_.try_emplace({row.rank, row.device}, Known{.last = row});
        Known& known = place->second;
        if (!is_new) {
            compare_link(known, row, loaded(row, load), changes);
            compare_errors(known.last, row, changes);
            compare_clocks(known.last, row, changes);
            compare_xids(known.last, row, changes);
        }
        known.last = row;
        known.best_gts = std::fmax(known.best_gts, row.link_gts);
        known.best_gbps = std::fmax(known.best_gbps, row.path_gbps);
        known.best_width = std::max(known.best_width, row.link_width);
    }
    return changes;
}

/// Whether the link of a device must have been at its full speed when it was read.
bool HealthWatch::loaded(const HealthRow& row, const LinkLoad& load) const {
    if (load.way == LinkLoad::Way::none) return false;
    if (load.way == LinkLoad::Way::peers && over_nvlink_.contains(row.device)) return false;
    return load.busy_ns.at(static_cast<std::size_t>(row.rank)) >= shortest_load_ns;
}

/// Comparisons with what is not known, NaN or -1, are false.
void HealthWatch::compare_link(const Known& known, const HealthRow& row, bool loaded, Changes& changes)
    const {
    constexpr const char* mark = "link-changed";
    const bool narrower = row.link_width > 0 && row.link_width < known.best_width;
    const bool slower = loaded && row.link_gts < known.best_gts * rounding;
    if (narrower)
        add(changes, mark, row, fmt::format("PCIe x{} became x{}", known.best_width, row.link_width));
    if (slower)
        add(changes, mark, row, fmt::format("PCIe {:g} GT/s became {:g}", known.best_gts, row.link_gts));
    if (narrower || slower || !loaded || !(row.path_gbps < known.best_gbps * rounding)) return;
    add(changes, mark, row,
        fmt::format("the path to the host, {:.1f} GB/s, became {:.1f}", known.best_gbps, row.path_gbps));
}

void note_changes(const std::vector<HealthChange>& changes, trace::CaseRow& row) {
    for (const HealthChange& change : changes) trace::add_mark(row, change.mark);
    if (changes.empty()) return;
    row.reason += (row.reason.empty() ? "" : "; ") + in_words(changes);
}

std::string in_words(const std::vector<HealthChange>& changes) {
    std::string text;
    for (const HealthChange& change : changes) text += (text.empty() ? "" : "; ") + change.words;
    return text;
}

}  // namespace ringscope::bench
