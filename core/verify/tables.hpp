// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "config/experiment.hpp"
#include "verify/window.hpp"

namespace ringscope::verify {

struct ElementTables;

/// Elements of `got` outside low .. high, all three beginning at the same element.
using CountOutside =
    std::int64_t (*)(const std::byte* got, const std::byte* low, const std::byte* high, std::int64_t count);
/// An element as text, with its bits where they are not obvious.
using Text = std::string (*)(const std::byte* element);
/// Whether `got` is the result at a place of the tables with one contributor counted `weight` times.
using IsWithWeight = bool (*)(
    const ElementTables& tables, std::int64_t at, std::size_t contributor, std::size_t weight,
    const std::byte* got
);

/// The type-dependent half of a Pattern. A table is table_length elements and the first block_length - 1 of
/// them again, so that a window of one block may begin anywhere.
struct ElementTables {
    std::vector<std::vector<std::byte>> inputs;  ///< [place in the list of contributors]
    std::vector<std::byte> low, high;            ///< results from low to high are right

    CountOutside count_outside;
    Text text;
    IsWithWeight is_with_weight;
    ReduceOp op;
    VerifyMode mode;
};

[[nodiscard]] ElementTables make_tables(
    DataType dtype, ReduceOp op, VerifyMode mode, std::size_t contributors
);

}  // namespace ringscope::verify
