// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/experiment.hpp"
#include "engine/host/control.hpp"
#include "engine/host/wait.hpp"

namespace ringscope::bench {

/// Lets all ranks of a host start an operation together. Two ways:
///  - window: rank 0 announces a time a little ahead and every rank spins up to it; a rank that looks only
///  later is late.
///  - barrier: a rank goes when it has seen all others arrive. For ranks that share cores, where spinning
///  keeps others from running.
class StartGate {
 public:
    /// `mode` automatic means window, or barrier where ranks share cores. `clock_offset_ns`: this rank's
    /// clock minus rank 0's, which announces the windows.
    StartGate(
        engine::host::Control& control, int rank, int ranks, StartMode mode, engine::host::Waiter waiter,
        bool oversubscribed, std::int64_t clock_offset_ns = 0
    );

    /// Returns at the start. [collective] False when this rank was late for the window. Throws StuckError.
    [[nodiscard]] bool pass();

    /// Rank 0's value, at all ranks. [collective] Throws StuckError.
    [[nodiscard]] std::int64_t share(std::int64_t value);

    /// Returns when all ranks are through with what they had to do with each other. [collective] Throws
    /// StuckError where one is not.
    void finish();

    /// After a timeout: waits, for at most this long, until every rank has come here; the abort word and the
    /// ranks' records are taken back then, and the gate begins anew. Gives who waited for whom. Nothing where
    /// a rank does not come, or all were told to end: then nothing collective is possible any more.
    [[nodiscard]] std::optional<std::string> recover(std::int64_t limit_ns);

    [[nodiscard]] bool uses_window() const { return window_; }

 private:
    void barrier();
    bool window();
    [[nodiscard]] bool meet(std::int64_t deadline_ns);
    void begin_anew(std::uint64_t rounds);
    template <class Work>
    auto bounded(Work work);
    std::atomic<std::uint64_t>& arrival(int rank);

    engine::host::Control& control_;
    int rank_, ranks_;
    bool window_;
    engine::host::Waiter waiter_;
    std::int64_t clock_offset_ns_;
    std::uint64_t rounds_ = 0, meetings_ = 0;
    std::int64_t lead_ns_ = 20'000;  ///< rank 0's: how far ahead the start is announced
};

}  // namespace ringscope::bench
