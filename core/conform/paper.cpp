// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "conform/paper.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "report/summary.hpp"
#include "schedule/traffic.hpp"

namespace ringscope::conform {
namespace {

/// Two channels, for schedules that play another tree on each, and so many slices that slots are used again.
schedule::PlanRequest wrapping(const Variant& variant, std::int32_t ranks, std::int64_t slots) {
    constexpr std::int64_t channels = 2, slices = 5;
    const std::int64_t slot_bytes = std::max<std::int64_t>(64, variant.link.line_bytes);
    const std::int64_t message = variant.link.min_parts * variant.link.slot_payload(slot_bytes);
    schedule::PlanRequest request{
        .ranks = ranks,
        .channels = channels,
        .slots = slots,
        .slot_bytes = slot_bytes,
        .link = variant.link,
        .options = variant.options};
    request.bytes = slices * message * channels * schedule::chunks_of(variant.algorithm, request) + 52;
    return request;
}

/// Whether so many slots are enough.
bool plays(const Variant& variant, std::int32_t ranks, std::int64_t slots) {
    try {
        (void)schedule::make_plan(variant.algorithm, wrapping(variant, ranks, slots));
        return true;
    } catch (const Error& e) {
        if (e.code() != ExitCode::usage) throw;
        return false;
    }
}

/// All numbers of slots on so many ranks, from the most to the first that is too few. Returns the fewest that
/// are enough.
std::int64_t prove_on(const Variant& variant, std::int32_t ranks, Group& group) {
    (void)schedule::make_plan(variant.algorithm, wrapping(variant, ranks, most_slots));
    ++group.passed;
    std::int64_t slots = most_slots - 1;
    for (; slots >= fewest_slots && plays(variant, ranks, slots); --slots) ++group.passed;
    return slots + 1;
}

std::vector<std::int64_t> odd_sizes(std::int32_t ranks) {
    return {0, 1, 4, 15, ranks - 1, ranks, ranks + 1, 16 * ranks + 4, 1023, 65537, 1'000'003, 100'000'000};
}

/// The first link on which the two differ, in words; "" where there is none.
std::string difference(const schedule::Description& paper) {
    for (std::int32_t src = 0; src < paper.ranks; ++src) {
        for (std::int32_t dst = 0; dst < paper.ranks; ++dst) {
            const std::int64_t declared = paper.declared.at(src, dst), law = paper.closed_form.at(src, dst);
            if (declared == law) continue;
            return "link " + std::to_string(src) + " -> " + std::to_string(dst) + ": closed form " +
                   std::to_string(law) + ", declared " + std::to_string(declared);
        }
    }
    return "";
}

void compare_on(const Variant& variant, std::int32_t ranks, Group& group) {
    for (const std::int64_t bytes : odd_sizes(ranks)) {
        const std::string different =
            difference(schedule::describe(variant.algorithm, ranks, bytes, variant.options));
        if (different.empty()) {
            ++group.passed;
        } else {
            group.fail(
                ExitCode::wrong_result, report::label(variant.choice) + " on " + std::to_string(ranks) +
                                            " ranks, " + std::to_string(bytes) + " bytes: " + different
            );
        }
    }
}

/// Does so for each number of ranks that a variant supports; what is thrown is a failure.
template <class Check>
void on_each(
    const std::vector<Variant>& variants, const std::vector<std::int32_t>& numbers_of_ranks, Group& group,
    Check check
) {
    for (const Variant& variant : variants) {
        for (const std::int32_t ranks : numbers_of_ranks) {
            if (ranks == 1 || !variant.supports(ranks)) continue;
            try {
                check(variant, ranks);
            } catch (const Error& e) {
                group.fail(e.code(), e.what());
            }
        }
    }
}

}  // namespace

std::vector<std::int32_t> numbers_of_ranks(Extent extent) {
    if (extent == Extent::reduced) return {2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32};
    std::vector<std::int32_t> all(63);
    std::iota(all.begin(), all.end(), 2);
    return all;
}

std::optional<std::int64_t> slots_needed(const Variant& variant, std::int32_t ranks) {
    for (std::int64_t slots = fewest_slots; slots <= most_slots; ++slots) {
        if (plays(variant, ranks, slots)) return slots;
    }
    return std::nullopt;
}

Group prove(const std::vector<Variant>& variants, const std::vector<std::int32_t>& numbers_of_ranks) {
    Group group{.name = "proofs"};
    std::int64_t most_needed = fewest_slots;
    on_each(variants, numbers_of_ranks, group, [&](const Variant& variant, std::int32_t ranks) {
        most_needed = std::max(most_needed, prove_on(variant, ranks, group));
    });
    if (most_needed > fewest_slots) group.remark = "needs up to " + std::to_string(most_needed) + " slots";
    return group;
}

Group compare_with_law(
    const std::vector<Variant>& variants, const std::vector<std::int32_t>& numbers_of_ranks
) {
    Group group{.name = "law"};
    if (variants.front().algorithm.closed_form == nullptr) {
        group.remark = "no closed form to compare with";
        return group;
    }
    on_each(variants, numbers_of_ranks, group, [&](const Variant& variant, std::int32_t ranks) {
        // Payload does not depend on the protocol.
        if (variant.choice.words.empty()) compare_on(variant, ranks, group);
    });
    return group;
}

}  // namespace ringscope::conform
