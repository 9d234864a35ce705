// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "schedule/program.hpp"

namespace ringscope::schedule {

/// Proves that the programs of all ranks of one channel are an all-reduce: plays them on sets of contributors
/// instead of numbers. At the end each slice of each chunk of each rank's output must hold every rank exactly
/// once and be finished exactly once. With `in_place`, input and output are the same memory. Returns what is
/// wrong, or "". `members`, in ascending order, are the ranks that take part: only they contribute, and only
/// their outputs are stored to; empty: all do.
[[nodiscard]] std::string disprove(
    std::span<const Program> programs, std::int32_t chunks, std::int64_t slices, bool in_place,
    std::span<const std::int32_t> members = {}
);

}  // namespace ringscope::schedule
