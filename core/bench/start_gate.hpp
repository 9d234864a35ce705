// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringscope::bench {

/// Lets all ranks start an operation together. Two ways:
///  - window: rank 0 announces a time a little ahead and every rank spins up to it; a rank that looks only
///  later is late.
///  - barrier: a rank goes when it has seen all others arrive. For ranks that share cores, where spinning
///  keeps others from running.
class StartGate {
 public:
    virtual ~StartGate() = default;

    /// Returns at the start. [collective] False when this rank was late for the window. Throws StuckError.
    [[nodiscard]] virtual bool pass() = 0;

    /// Rank 0's value, at all ranks. [collective] Throws StuckError.
    [[nodiscard]] virtual std::int64_t share(std::int64_t value) = 0;

    /// Returns when all ranks are through with what they had to do with each other. [collective] Throws
    /// StuckError where one is not.
    virtual void finish() = 0;

    /// After a timeout: waits, for at most this long, until every rank has come here; then the gate begins
    /// anew. Gives who waited for whom. Nothing where a rank does not come, or all were told to end: then
    /// nothing collective is possible any more.
    [[nodiscard]] virtual std::optional<std::string> recover(std::int64_t limit_ns) = 0;

    [[nodiscard]] virtual bool uses_window() const = 0;
};

}  // namespace ringscope::bench
