// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "clock/line.hpp"
#include "cuda/cuda.hpp"
#include "engine/cuda/clock.hpp"
#include "engine/host/control.hpp"
#include "engine/host/wait.hpp"

namespace ringscope::engine::cuda {

/// The clock of a rank's GPU, against the clock of the rank's host.
struct DeviceClock {
    std::int64_t offset_ns = 0;  ///< the device's minus the host's
    std::int64_t error_ns = 0;   ///< stamps that are moved by the offset are right within this bound
    std::int64_t ahead_ns = 0;   ///< the device's minus rank 0's host's, where that is known
    bool is_common = false;      ///< against other ranks' stamps, and not only against the own host's clock
};

struct DeviceClocksOptions {
    int ranks = 1, rank = 0;
    clock::Line host{};  ///< of this rank
    std::int64_t wait_ns = 0;
};

/// Brings the stamps of all ranks' GPUs onto one clock, that of rank 0's host. GPUs that reach each other ask
/// each other directly: a round trip over their link is shorter than one to the host, and between ranks only
/// the differences of clocks matter. Others are compared with their host each.
class DeviceClocks {
 public:
    DeviceClocks(host::Control& control, const DeviceClocksOptions& options)
        : control_{control}, options_{options}, waiter_{control, options.rank, options.wait_ns, false} {}

    /// Before the first measurement of a case: where the GPUs reach each other, if they do.
    void begin_case(const std::optional<ClockMail>& mail);

    /// How they stand now; what drifts is measured right after what was stamped. [collective] Throws
    /// StuckError.
    [[nodiscard]] DeviceClock measure(const ringscope::cuda::Stream& stream);

 private:
    [[nodiscard]] DeviceClock from_host(const ringscope::cuda::Stream& stream) const;
    void ask_all(const ringscope::cuda::Stream& stream);
    [[nodiscard]] DeviceClock announced();
    [[noreturn]] void give_up(int peer);

    host::Control& control_;
    DeviceClocksOptions options_;
    host::Waiter waiter_;
    std::optional<ClockMail> mail_;
    std::uint64_t cases_ = 0, rounds_ = 0;
};

}  // namespace ringscope::engine::cuda
