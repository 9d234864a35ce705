// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "clock/comparison.hpp"
#include "clock/host_clocks.hpp"
#include "clock/messages.hpp"

namespace ringscope::clock {

struct ClockOptions {
    HostClockOptions on_host{};
    MessageOptions messages{};
    Effort thorough{};  ///< the first time
    Effort brief{.series = 5, .questions = 20, .pause_ns = 1'000'000};
};

/// How the clocks of all ranks go by that of rank 0. Ranks of one host are compared through memory that they
/// share; the first ranks of several hosts over messages along a tree, and the others of a host go by its
/// first.
class Clocks {
 public:
    /// [collective] Every rank's clock is rank 0's until they have been compared.
    explicit Clocks(bootstrap::Bootstrap& bootstrap, ClockOptions options = {});

    /// Compares all. [collective] Gives at rank 0 what was compared, in order of ranks: every rank with the
    /// one that asked it, and then, without exchanges, those with rank 0 that were asked by another. Throws
    /// AgreedError (timeout) where a rank does not answer on its host.
    std::vector<Comparison> compare();

    /// Compares the hosts again, since what was known of their clocks is worth less with time. [collective]
    /// Gives at rank 0 what was compared, and nothing where there is one host, whose clock is one.
    std::vector<Comparison> keep_up();

    /// The clock of a rank by that of rank 0, at all ranks.
    [[nodiscard]] const Line& of(int rank) const { return lines_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool span_hosts() const { return hosts_.size() > 1; }

 private:
    [[nodiscard]] std::vector<Comparison> compare_hosts(const Effort& effort);
    void remember(int rank, const std::vector<Exchange>& exchanges);
    [[nodiscard]] std::vector<Comparison> gather(const std::vector<Comparison>& mine);
    [[nodiscard]] std::vector<Comparison> settle(const std::vector<Comparison>& mine);

    bootstrap::Bootstrap& bootstrap_;
    ClockOptions options_;
    std::vector<int> hosts_;                        ///< the first rank of each
    std::map<int, std::vector<Exchange>> answers_;  ///< of ranks that this one asks over messages, the best
    std::vector<Comparison> known_;                 ///< rank 0's: the last one of every rank
    std::vector<Line> lines_;
    bool compared_ = false;
};

}  // namespace ringscope::clock
