// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "engine/host/mailbox.hpp"
#include "engine/host/move.hpp"
#include "schedule/plan.hpp"
#include "transport/windows.hpp"

namespace ringscope::engine::host {

/// Where the slots of a connection begin, in an engine that has them elsewhere than in the host's windows.
using SlotsOf = std::function<std::byte*(std::int32_t channel, std::int32_t src, std::int32_t dst)>;

/// A rank's ends of all connections that a plan uses, in windows sized for exactly these. Counters and slots
/// live on from one operation, and one message size, to the next.
class Connections {
 public:
    /// With `slots_of` the windows hold counters alone. [collective] Throws AgreedError when there is not
    /// enough shared memory.
    Connections(
        bootstrap::Bootstrap& bootstrap, const schedule::Plan& plan, const SlotsOf& slots_of = nullptr
    );

    /// Whether it has all that this plan uses. The same on all ranks.
    [[nodiscard]] bool serve(const schedule::Plan& plan) const;

    /// The rank's program for this plan, made ready to run, channel after channel. With `reduce_divisor` > 0
    /// the finishing ops divide by it.
    [[nodiscard]] std::vector<ReadyOp> make_ready(
        const schedule::Plan& plan, std::int32_t reduce_divisor, std::int64_t min_part_bytes
    );

 private:
    using Key = std::pair<std::int32_t, std::int32_t>;  // channel, peer
    using Sources = std::set<Key>;

    [[nodiscard]] ReadyOp ready(
        const schedule::Plan& plan, std::int32_t channel, const schedule::Program& program, std::int32_t index
    );

    std::int32_t rank_;
    std::vector<Sources> sources_;  ///< [dst]
    std::unique_ptr<transport::Windows> windows_;
    std::map<Key, Inbox> inboxes_;
    std::map<Key, Outbox> outboxes_;
};

}  // namespace ringscope::engine::host
