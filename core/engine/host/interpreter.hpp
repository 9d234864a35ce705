// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/host/low_latency.hpp"
#include "engine/host/low_latency_128.hpp"
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
        probe.end();
    }
}

/// Calls f with the struct of a protocol.
template <class F>
auto with_link(Protocol protocol, F f) {
    switch (protocol) {
        case Protocol::ll:
            return f(LowLatency{});
        case Protocol::ll128:
            return f(LowLatency128{});
        case Protocol::simple:
            break;
    }
    return f(Simple{});
}

}  // namespace ringscope::engine::host
