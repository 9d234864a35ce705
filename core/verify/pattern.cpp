// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/pattern.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.hpp"
#include "verify/tables.hpp"
#include "verify/window.hpp"

namespace ringscope::verify {
namespace {

std::vector<int> first_ranks(int ranks) {
    std::vector<int> all(static_cast<std::size_t>(std::max(ranks, 0)));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// A piece of a message that is contiguous in the tables.
struct Window {
    std::int64_t first;   ///< element of the message
    std::int64_t at;      ///< element of the table
    std::int64_t length;  ///< elements
};

template <class F>
void for_each_window(std::int64_t count, std::uint64_t seed, F&& f) {
    for (std::int64_t first = 0; first < count; first += block_length) {
        f(Window{first, window_of(first / block_length, seed), std::min(block_length, count - first)});
    }
}

/// Element of the tables that belongs to element `index` of a message.
std::int64_t place_of(std::int64_t index, std::uint64_t seed) {
    return window_of(index / block_length, seed) + index % block_length;
}

}  // namespace

struct Pattern::Tables {
    DataType dtype;
    std::vector<int> contributors;
    std::int64_t size;  ///< bytes of an element
    ElementTables elements;

    /// The input table of a rank, or null for one that does not contribute.
    [[nodiscard]] const std::byte* input_of(int rank) const {
        const auto found = std::find(contributors.begin(), contributors.end(), rank);
        return found == contributors.end() ? nullptr : elements.inputs[found - contributors.begin()].data();
    }

    void copy(const std::byte* table, std::byte* out, std::int64_t count, std::uint64_t seed) const {
        for_each_window(count, seed, [&](const Window& window) {
            std::memcpy(out + window.first * size, table + window.at * size, window.length * size);
        });
    }

    /// Elements outside low .. high; equal bytes need no closer look.
    [[nodiscard]] std::int64_t count_outside(
        const std::byte* got, const std::byte* low, const std::byte* high, std::int64_t count,
        std::uint64_t seed
    ) const {
        std::int64_t outside = 0;
        for_each_window(count, seed, [&](const Window& window) {
            const std::byte* const piece = got + window.first * size;
            const std::byte* const least = low + window.at * size;
            if (std::memcmp(piece, least, window.length * size) == 0) return;
            outside += elements.count_outside(piece, least, high + window.at * size, window.length);
        });
        return outside;
    }

    [[nodiscard]] bool is_wrong(const std::byte* got, std::int64_t index, std::uint64_t seed) const {
        const std::int64_t at = place_of(index, seed) * size;
        return elements.count_outside(got + index * size, &elements.low[at], &elements.high[at], 1) != 0;
    }

    [[nodiscard]] std::string expected_text(std::int64_t index, std::uint64_t seed) const {
        const std::int64_t at = place_of(index, seed) * size;
        const std::string low = elements.text(&elements.low[at]), high = elements.text(&elements.high[at]);
        return low == high ? low : low + " to " + high;
    }

    /// The first few wrong elements.
    [[nodiscard]] std::vector<std::int64_t> first_wrong(
        const std::byte* got, std::int64_t count, std::uint64_t seed, std::size_t limit
    ) const {
        std::vector<std::int64_t> wrong;
        for_each_window(count, seed, [&](const Window& window) {
            if (wrong.size() >= limit) return;
            const std::int64_t at = window.at * size;
            if (std::memcmp(got + window.first * size, &elements.low[at], window.length * size) == 0) return;
            for (std::int64_t i = window.first; i < window.first + window.length && wrong.size() < limit;
                 ++i) {
                if (is_wrong(got, i, seed)) wrong.push_back(i);
            }
        });
        return wrong;
    }
};

Pattern::Pattern(DataType dtype, ReduceOp op, std::vector<int> contributors, VerifyMode mode) {
    if (contributors.empty()) {
        throw Error{ExitCode::internal, "test data needs at least one rank that contributes"};
    }
    ElementTables elements = make_tables(dtype, op, mode, contributors.size());
    tables_ = std::make_shared<const Tables>(Tables{
        dtype, std::move(contributors), size_of(dtype), std::move(elements)});
}

Pattern::Pattern(DataType dtype, ReduceOp op, int ranks, VerifyMode mode)
    : Pattern{dtype, op, first_ranks(ranks), mode} {}

void Pattern::fill(std::byte* out, int rank, std::int64_t count, std::uint64_t seed) const {
    if (count <= 0) return;
    const std::byte* const table = tables_->input_of(rank);
    if (table == nullptr) {
        std::memset(out, 0xff, count * tables_->size);
    } else {
        tables_->copy(table, out, count, seed);
    }
}

void Pattern::fill_expected(std::byte* out, std::int64_t count, std::uint64_t seed) const {
    tables_->copy(tables_->elements.low.data(), out, count, seed);
}

std::int64_t Pattern::count_wrong(const std::byte* got, std::int64_t count, std::uint64_t seed) const {
    const ElementTables& elements = tables_->elements;
    return tables_->count_outside(got, elements.low.data(), elements.high.data(), count, seed);
}

std::optional<WrongElement> Pattern::find_first_wrong(
    const std::byte* got, std::int64_t count, std::uint64_t seed
) const {
    const std::vector<std::int64_t> wrong = tables_->first_wrong(got, count, seed, 1);
    if (wrong.empty()) return std::nullopt;
    const std::int64_t index = wrong.front();
    return WrongElement{
        index, tables_->expected_text(index, seed), tables_->elements.text(got + index * tables_->size)};
}

std::int64_t Pattern::count_changed(const std::byte* input, int rank, std::int64_t count, std::uint64_t seed)
    const {
    const std::byte* const table = tables_->input_of(rank);
    if (table != nullptr) return tables_->count_outside(input, table, table, count, seed);
    const std::int64_t bytes =
        std::count_if(input, input + std::max<std::int64_t>(count, 0) * tables_->size, [](std::byte byte) {
            return byte != std::byte{0xff};
        });
    return (bytes + tables_->size - 1) / tables_->size;
}

/// The first wrong elements of a result, and what they have in common.
struct Pattern::Evidence {
    const Tables& tables;
    const std::byte* got;
    std::uint64_t seed;
    std::vector<std::int64_t> wrong;

    /// Whether a property of an element's bytes and index holds for all.
    template <class F>
    [[nodiscard]] bool all(F&& property) const {
        return std::all_of(wrong.begin(), wrong.end(), [&](std::int64_t index) {
            return property(got + index * tables.size, index);
        });
    }
    [[nodiscard]] bool is_poison() const {
        return all([&](const std::byte* element, std::int64_t) {
            return std::all_of(element, element + tables.size, [](std::byte byte) {
                return byte == std::byte{0xff};
            });
        });
    }
    [[nodiscard]] bool equals(const std::vector<std::byte>& table, std::uint64_t other_seed) const {
        return all([&](const std::byte* element, std::int64_t index) {
            return std::memcmp(element, &table[place_of(index, other_seed) * tables.size], tables.size) == 0;
        });
    }
    [[nodiscard]] bool has_weight(std::size_t contributor, std::size_t weight) const {
        return all([&](const std::byte* element, std::int64_t index) {
            const ElementTables& elements = tables.elements;
            return elements.is_with_weight(elements, place_of(index, seed), contributor, weight, element);
        });
    }
    /// What a single contributor explains.
    [[nodiscard]] std::string cause_in(std::size_t contributor) const {
        const std::string rank = "rank " + std::to_string(tables.contributors[contributor]);
        if (equals(tables.elements.inputs[contributor], seed)) return "the input of " + rank;
        if (has_weight(contributor, 0)) return rank + " is missing";
        if (has_weight(contributor, 2)) return rank + " is added twice";
        return "";
    }
};

std::string Pattern::likely_cause(const std::byte* got, std::int64_t count, std::uint64_t seed) const {
    constexpr std::size_t looked_at = 16;
    const Evidence evidence{*tables_, got, seed, tables_->first_wrong(got, count, seed, looked_at)};
    if (evidence.wrong.empty()) return "";
    if (evidence.is_poison()) return "never written";
    if (seed > 0 && evidence.equals(tables_->elements.low, seed - 1)) {
        return "the result of seed " + std::to_string(seed - 1);
    }
    std::string cause;
    for (std::size_t k = 0; k < tables_->contributors.size() && cause.empty(); ++k)
        cause = evidence.cause_in(k);
    return cause;
}

std::span<const std::byte> Pattern::input_table(int rank) const {
    const std::byte* const table = tables_->input_of(rank);
    return table == nullptr ? std::span<const std::byte>{} : std::span{table, tables_->elements.low.size()};
}

std::span<const std::byte> Pattern::expected_table() const {
    return tables_->elements.low;
}

DataType Pattern::dtype() const noexcept {
    return tables_->dtype;
}
ReduceOp Pattern::op() const noexcept {
    return tables_->elements.op;
}
VerifyMode Pattern::mode() const noexcept {
    return tables_->elements.mode;
}
const std::vector<int>& Pattern::contributors() const noexcept {
    return tables_->contributors;
}

}  // namespace ringscope::verify
