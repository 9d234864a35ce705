// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/control.hpp"

#include <algorithm>
#include <tuple>

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
    struct Wait {
        bool has_answer;  ///< the one waited for says what it waits for itself
        bool is_before;   ///< it waits for the operation to begin
        std::int32_t step;
        std::string text;
    };
    std::vector<Wait> waits;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const StuckRecord& record = control.stuck[static_cast<std::size_t>(rank)];
        if (record.valid.load(std::memory_order_acquire) == 0) continue;
        const StuckRecord& peer = control.stuck[static_cast<std::size_t>(record.peer)];
        const bool has_answer = peer.valid.load(std::memory_order_acquire) != 0;
        waits.push_back(
            {has_answer, record.step < 0, record.step,
             describe_wait(record, rank) + (has_answer ? "" : ", which does not answer")}
        );
    }
    std::ranges::stable_sort(waits, {}, [](const Wait& wait) {
        return std::tuple{wait.has_answer, wait.is_before, wait.step};
    });
    std::string text;
    for (const Wait& wait : waits) text += (text.empty() ? "" : "; ") + wait.text;
    return text;
}

}  // namespace ringscope::engine::host
