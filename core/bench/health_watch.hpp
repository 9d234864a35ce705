// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/rows.hpp"

/// The machine's health from one case to the next, judged by rank 0. What the rules are and why:
/// docs/measuring.md.
namespace ringscope::bench {

/// What the PCIe links of GPUs had to do while a case ran.
struct LinkLoad {
    enum class Way : std::uint8_t {
        none,    ///< nothing
        peers,   ///< carry data between GPUs, unless NVLink does
        through  ///< carry data to and from the host
    };
    Way way = Way::none;
    std::vector<std::int64_t> busy_ns{};  ///< per rank: the sum of its samples
};

/// A word of the marks, and what happened to which device.
struct HealthChange {
    std::string mark, words;
};

/// Compares each reading of a device with those before it, in this run.
class HealthWatch {
 public:
    explicit HealthWatch(std::set<std::string> over_nvlink) : over_nvlink_{std::move(over_nvlink)} {}

    /// Changes for the worse since the reading before, and links below their best. The first reading of a
    /// device has none.
    [[nodiscard]] std::vector<HealthChange> compare(
        const std::vector<trace::HealthRow>& rows, const LinkLoad& load
    );

 private:
    struct Known {
        trace::HealthRow last;
        double best_gts = 0, best_gbps = 0;
        std::int32_t best_width = 0;
    };
    [[nodiscard]] bool loaded(const trace::HealthRow& row, const LinkLoad& load) const;
    void compare_link(
        const Known& known, const trace::HealthRow& row, bool loaded, std::vector<HealthChange>& changes
    ) const;

    std::set<std::string> over_nvlink_;
    std::map<std::pair<std::int32_t, std::string>, Known> known_;  ///< by rank and device
};

/// Marks a case, and says behind what its reason says already what happened.
void note_changes(const std::vector<HealthChange>& changes, trace::CaseRow& row);

/// "0000:17:00.0: x16 became x4; ..."
[[nodiscard]] std::string in_words(const std::vector<HealthChange>& changes);

}  // namespace ringscope::bench
