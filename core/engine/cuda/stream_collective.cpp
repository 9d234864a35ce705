// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/stream_collective.hpp"

#include <algorithm>
#include <string>

#include "engine/cuda/range.hpp"

namespace ringscope::engine::cuda {

bool StreamCollective::is_armed(std::span<const Operation> operations, bool traced) const {
    return mode_ != Mode::graph || std::ranges::equal(operations, armed_[traced].operations);
}

void StreamCollective::arm(std::span<const Operation> operations, EventLog* events) {
    const bool traced = events != nullptr;
    if (is_armed(operations, traced)) return;
    armed_[traced].graph.capture(*stream_, [&] { enqueue_all(operations, traced); });
    stream_->synchronize();
    armed_[traced].operations.assign(operations.begin(), operations.end());
}

void StreamCollective::enqueue_all(std::span<const Operation> operations, bool traced) {
    for (const Operation& operation : operations) {
        const Range range{"operation"};
        if (traced) {
            enqueue_traced(operation);
        } else {
            enqueue(operation);
        }
    }
}

Timing StreamCollective::sample(std::span<const Operation> operations) {
    return timed_operations(operations, false);
}

/// In graph mode, operations that no graph was made of are enqueued one by one.
Timing StreamCollective::timed_operations(std::span<const Operation> operations, bool traced) {
    return timed([&] {
        if (mode_ == Mode::graph && is_armed(operations, traced)) {
            const Range range{"graph of " + std::to_string(operations.size())};
            return armed_[traced].graph.launch(*stream_);
        }
        enqueue_all(operations, traced);
    });
}

}  // namespace ringscope::engine::cuda
