// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// For plugin authors: what a closed form needs to know of how a message is cut. Closed forms are held
/// against schedules, so this shares nothing with the planner that cuts.
namespace ringscope::law {

/// Bytes of chunk c of a message that is cut into n: balanced in units of 16 bytes, the first chunks take the
/// units that are left over, the last one the tail of fewer than 16 bytes.
[[nodiscard]] constexpr std::int64_t chunk_bytes(std::int64_t bytes, std::int64_t n, std::int64_t c) {
    const std::int64_t units = bytes / 16;
    const std::int64_t tail = c == n - 1 ? bytes % 16 : 0;
    return 16 * (units / n + (c < units % n ? 1 : 0)) + tail;
}

}  // namespace ringscope::law
