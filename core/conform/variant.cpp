// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "conform/variant.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/error.hpp"

namespace ringscope::conform {
namespace {

/// Values of an option that are worth a try, without its usual one.
std::vector<std::int64_t> unusual_values(const ringscope_option& option) {
    std::vector<std::int64_t> values;
    for (const std::int64_t value : {option.least, option.least + 1, option.most}) {
        const bool is_new = value != option.usual && std::ranges::count(values, value) == 0;
        if (is_new && value <= option.most) values.push_back(value);
    }
    return values;
}

Variant with_option(const Variant& variant, std::int32_t index, std::int64_t value) {
    Variant changed = variant;
    changed.options[static_cast<std::size_t>(index)] = value;
    changed.choice.params[variant.algorithm.options[index].name] = value;
    return changed;
}

/// The variant with each unusual value of each option from `first` on.
std::vector<Variant> with_each_option(const Variant& variant, std::int32_t first) {
    std::vector<Variant> changed;
    for (std::int32_t i = first; i < variant.algorithm.option_count; ++i) {
        for (const std::int64_t value : unusual_values(variant.algorithm.options[i]))
            changed.push_back(with_option(variant, i, value));
    }
    return changed;
}

std::vector<Variant> with_options(const Variant& usual) {
    std::vector<Variant> all;
    for (std::int32_t i = 0; i < usual.algorithm.option_count; ++i) {
        for (const std::int64_t value : unusual_values(usual.algorithm.options[i])) {
            const Variant one = with_option(usual, i, value);
            all.push_back(one);
            std::ranges::copy(with_each_option(one, i + 1), std::back_inserter(all));
        }
    }
    return all;
}

std::optional<Variant> with_protocol(const Variant& own, Protocol protocol, const FormatOf& format_of) {
    const auto number = static_cast<std::uint32_t>(protocol);
    if (protocol == own.link.protocol || (own.algorithm.protocols >> number & 1u) == 0) return std::nullopt;
    Variant other = own;
    other.choice.words["protocol"] = name_of(protocol);
    try {
        other.link = format_of(protocol);
    } catch (const Error& e) {
        if (e.code() != ExitCode::unusable_engine) throw;
        return std::nullopt;
    }
    return other;
}

bool has_chunks(const ringscope_algorithm& algorithm, const schedule::PlanRequest& request) {
    try {
        return schedule::chunks_of(algorithm, request) > 0;
    } catch (const Error& e) {
        if (e.code() != ExitCode::usage) throw;
        return false;
    }
}

}  // namespace

bool Variant::supports(std::int32_t ranks) const {
    const schedule::PlanRequest request{.ranks = ranks, .options = options};
    if (ranks > 1 && !has_chunks(algorithm, request)) return false;
    if (algorithm.takes_part == nullptr) return true;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const ringscope_place place = schedule::place_of(request, rank);
        if (algorithm.takes_part(&place) != 0) return true;
    }
    return false;
}

std::vector<Variant> variants_of(const ringscope_algorithm& algorithm, const FormatOf& format_of) {
    const Variant own{
        algorithm,
        {.id = algorithm.id},
        format_of(static_cast<Protocol>(algorithm.protocol)),
        schedule::usual_options(algorithm)};
    std::vector<Variant> all{own};
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
        if (const auto other = with_protocol(own, protocol, format_of)) all.push_back(*other);
    }
    std::ranges::copy(with_options(own), std::back_inserter(all));
    return all;
}

}  // namespace ringscope::conform
