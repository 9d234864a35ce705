// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/host/low_latency.hpp"
#include "engine/host/move.hpp"
#include "engine/host/probe.hpp"
#include "engine/host/simple.hpp"

namespace ringscope::engine::host {

/// Plays a rank's program. The protocol and what is observed are template arguments, so that the untraced
/// code has no trace in it; everything else is data.
template <class Link, class Probe>
void interpret(
    std::span<const ReadyOp> ops, const Buffers& buffers, Scratch& scratch, Waiter& waiter, Probe& probe
) {
    for (const ReadyOp& op : ops) {
        probe.begin(op);
        Link::play(op, buffers, scratch, waiter, probe);
        probe.end(op);
    }
}

}  // namespace ringscope::engine::host
