// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/engines.hpp"
#include "trace/rows.hpp"

namespace ringscope::bench {

/// Phases that happen within others, in ns so far; -1 for one that there was not.
struct InnerPhases {
    std::int64_t nccl_init = trace::not_available, ipc_open = trace::not_available,
                 first_launch = trace::not_available;
};

[[nodiscard]] InnerPhases inner_phases(const Engines& engines);

/// Where a rank's time went from the kernel's start of its process to the end of its first collective. All
/// moments are of one clock, CLOCK_MONOTONIC in ns. A phase begins where the one before it ended, so no time
/// is left out and none is counted twice.
class Ladder {
 public:
    /// `process_start` is the time between these two.
    Ladder(std::int64_t start_ns, std::int64_t main_ns);

    /// What has passed since the last step was this phase, but for what the inner ones took. A phase may come
    /// in several parts.
    void step(const std::string& phase, std::int64_t now_ns, const InnerPhases& inner = {});

    /// The first collective: up to its entry was `prepare`. Later ones change nothing.
    void finish(
        std::int32_t case_index, std::int64_t enter_ns, std::int64_t exit_ns, const InnerPhases& inner
    );

    /// Of the phases before the first collective, and `total`, from the start to its end, which is a
    /// difference of two moments and no sum. Neither that nor `prepare` is there before finish().
    [[nodiscard]] std::vector<trace::ColdRow> rows(std::int32_t rank) const;

 private:
    void add(const std::string& phase, std::int64_t ns);

    struct Phase {
        std::string name;
        std::int64_t ns = 0;
        std::int32_t case_index = -1;
    };
    std::int64_t start_ns_, last_ns_;
    InnerPhases inner_;
    std::vector<Phase> phases_;
    bool finished_ = false;
};

}  // namespace ringscope::bench
