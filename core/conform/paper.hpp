// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "conform/group.hpp"
#include "conform/variant.hpp"

/// What can be shown of an algorithm without running it.
namespace ringscope::conform {

inline constexpr std::int64_t fewest_slots = 3, most_slots = 8;

/// The numbers of ranks of a gate on paper: 2 .. 64, or a few of them.
[[nodiscard]] std::vector<std::int32_t> numbers_of_ranks(Extent extent);

/// Fewest slots per connection, of fewest_slots .. most_slots, with which the schedule plays to the end
/// though it uses every slot again; nothing where all of them are too few. Throws Error for a schedule that
/// is no all-reduce.
[[nodiscard]] std::optional<std::int64_t> slots_needed(const Variant& variant, std::int32_t ranks);

/// For each of these numbers of ranks, with 3 .. 8 slots: every output holds every rank once, in place and
/// out of place, and the programs do not deadlock. To need more than 3 slots is no failure, to need more than
/// 8 is one. Numbers of ranks that a variant does not support are left out.
[[nodiscard]] Group prove(
    const std::vector<Variant>& variants, const std::vector<std::int32_t>& numbers_of_ranks
);

/// For each of these numbers of ranks, and sizes that do not divide: declared = closed form on every link. No
/// checks without a closed form.
[[nodiscard]] Group compare_with_law(
    const std::vector<Variant>& variants, const std::vector<std::int32_t>& numbers_of_ranks
);

}  // namespace ringscope::conform
