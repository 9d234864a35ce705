// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/stream_collective.hpp"

#include <algorithm>
#include <string>

#include "engine/cuda/range.hpp"

namespace ringscope::engine::cuda {

bool StreamCollective::is_armed(std::span<const Operation> operations) const {
    return mode_ != Mode::graph || std::ranges::equal(operations, captured_);
}

void StreamCollective::arm(std::span<const Operation> operations) {
    if (is_armed(operations)) return;
    graph_.capture(stream_, [&] {
        for (const Operation& operation : operations) enqueue(operation);
    });
    stream_.synchronize();
    captured_.assign(operations.begin(), operations.end());
}

/// In graph mode, operations that no graph was made of are enqueued one by one.
Timing StreamCollective::sample(std::span<const Operation> operations) {
    return timed([&] {
        if (mode_ == Mode::graph && is_armed(operations)) {
            const Range range{"graph of " + std::to_string(operations.size())};
            return graph_.launch(stream_);
        }
        for (const Operation& operation : operations) {
            const Range range{"operation"};
            enqueue(operation);
        }
    });
}

}  // namespace ringscope::engine::cuda
