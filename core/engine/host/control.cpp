// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/control.hpp"

namespace ringscope::engine::host {
namespace {

std::string describe_wait(const StuckRecord& record, std::int32_t rank) {
    if (record.step < 0) {
        return "rank " + std::to_string(rank) + " waits for rank " + std::to_string(record.peer) +
               " to begin the operation (step 0, chunk 0)";
    }
    return "rank " + std::to_string(rank) + " waits for " +
           (record.for_credit != 0 ? "a free slot at" : "data from") + " rank " +
           std::to_string(record.peer) + " at step " + std::to_string(record.step) + ", chunk " +
           std::to_string(record.chunk) + ", slice " + std::to_string(record.slice);
}

}  // namespace

std::string describe_stuck(const Control& control, std::int32_t ranks) {
    std::string roots, others;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const StuckRecord& record = control.stuck[static_cast<std::size_t>(rank)];
        if (record.valid.load(std::memory_order_acquire) == 0) continue;
        const StuckRecord& peer = control.stuck[static_cast<std::size_t>(record.peer)];
        std::string& text = peer.valid.load(std::memory_order_acquire) == 0 ? roots : others;
        text += (text.empty() ? "" : "; ") + describe_wait(record, rank);
        if (&text == &roots) text += ", which does not answer";
    }
    if (roots.empty()) return others;
    return others.empty() ? roots : roots + "; " + others;
}

}  // namespace ringscope::engine::host
