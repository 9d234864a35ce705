// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/start_gate.hpp"
#include "bootstrap/bootstrap.hpp"
#include "clock/clocks.hpp"
#include "config/experiment.hpp"

namespace ringscope::bench {

/// The gate of ranks of several hosts, over the control plane. A window is announced on rank 0's clock, and
/// every rank finds the moment on its own. Nothing is bounded here but by the watchdog of the case, so a rank
/// that does not come ends the run.
class MessageGate final : public StartGate {
 public:
    /// `mode` automatic means window, or barrier where ranks share cores.
    MessageGate(
        bootstrap::Bootstrap& bootstrap, StartMode mode, bool oversubscribed, const clock::Clocks& clocks
    );

    [[nodiscard]] bool pass() override;
    [[nodiscard]] std::int64_t share(std::int64_t value) override;
    void finish() override { bootstrap_.barrier(); }
    [[nodiscard]] std::optional<std::string> recover(std::int64_t) override { return std::nullopt; }
    [[nodiscard]] bool uses_window() const override { return window_; }

 private:
    [[nodiscard]] bool window();

    bootstrap::Bootstrap& bootstrap_;
    bool window_;
    const clock::Clocks& clocks_;
    bool late_ = false;               ///< for the window before
    std::int64_t lead_ns_ = 200'000;  ///< rank 0's: how far ahead the start is announced
};

}  // namespace ringscope::bench
