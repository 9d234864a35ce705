// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/start_gate.hpp"
#include "config/experiment.hpp"
#include "engine/host/control.hpp"
#include "engine/host/wait.hpp"

namespace ringscope::bench {

/// The gate of ranks of one host, over memory that they share. All waits are bounded.
class HostGate final : public StartGate {
 public:
    /// `mode` automatic means window, or barrier where ranks share cores. `clock_offset_ns`: this rank's
    /// clock minus rank 0's, which announces the windows.
    HostGate(
        engine::host::Control& control, int rank, int ranks, StartMode mode, engine::host::Waiter waiter,
        bool oversubscribed, std::int64_t clock_offset_ns = 0
    );

    [[nodiscard]] bool pass() override;
    [[nodiscard]] std::int64_t share(std::int64_t value) override;
    void finish() override;
    /// The abort word and the ranks' records are taken back.
    [[nodiscard]] std::optional<std::string> recover(std::int64_t limit_ns) override;
    [[nodiscard]] bool uses_window() const override { return window_; }

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
