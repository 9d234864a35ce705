// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <utility>
#include <vector>

namespace ringscope {
namespace {

/// Letters to insert, delete, replace, or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last, last, row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_last = std::exchange(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row[b.size()];
}

struct Unit {
    std::string_view name;
    std::int64_t factor;
};

constexpr std::int64_t limit = std::int64_t{1} << 62;

/// A non-negative decimal number with an optional fraction and one of the units, exactly representable in
/// int64.
std::optional<std::int64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{} || text.starts_with('-')) return std::nullopt;
    std::string_view suffix{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    while (suffix.starts_with(' ')) suffix.remove_prefix(1);
    const auto unit = std::ranges::find(units, suffix, &Unit::name);
    if (unit == units.end()) return std::nullopt;
    std::int64_t whole = 0;
    const auto integer = std::from_chars(text.data(), end, whole);
    if (integer.ec == std::errc{} && integer.ptr == end) {
        if (whole > limit / unit->factor) return std::nullopt;
        return whole * unit->factor;
    }
    const double scaled = number * static_cast<double>(unit->factor);
    if (!(scaled <= static_cast<double>(limit))) return std::nullopt;
    const auto rounded = static_cast<std::int64_t>(scaled);
    if (static_cast<double>(rounded) != scaled) return std::nullopt;
    return rounded;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
    std::string best;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    const std::string candidate = nearest(word, candidates);
    return candidate.empty() ? "" : ", did you mean `" + candidate + "`?";
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
    constexpr std::int64_t k = 1024, d = 1000;
    static constexpr std::array<Unit, 14> units{
        {{"", 1},
         {"B", 1},
         {"K", k},
         {"KiB", k},
         {"KB", d},
         {"M", k * k},
         {"MiB", k * k},
         {"MB", d * d},
         {"G", k * k * k},
         {"GiB", k * k * k},
         {"GB", d * d * d},
         {"k", k},
         {"m", k * k},
         {"g", k * k * k}}};
    return parse_quantity(text, units);
}

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
    constexpr std::int64_t s = 1'000'000'000;
    static constexpr std::array<Unit, 6> units{
        {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", s}, {"m", 60 * s}, {"h", 3600 * s}}};
    return parse_quantity(text, units);
}

std::string format_bytes(std::int64_t bytes) {
    static constexpr std::array<Unit, 3> units{{{" GiB", 1 << 30}, {" MiB", 1 << 20}, {" KiB", 1 << 10}}};
    for (const Unit& unit : units) {
        if (bytes != 0 && bytes % unit.factor == 0) {
            return std::to_string(bytes / unit.factor) + std::string{unit.name};
        }
    }
    return std::to_string(bytes) + " B";
}

std::string join(std::span<const std::string> words, std::string_view separator) {
    std::string joined;
    for (const std::string& word : words) {
        if (!joined.empty()) joined += separator;
        joined += word;
    }
    return joined;
}

}  // namespace ringscope
