// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "conform/variant.hpp"

#include <algorithm>
#include <iterator>

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

/// What an engine has of the protocols that the algorithm names, its own first.
std::vector<schedule::LinkFormat> links_of(const ringscope_algorithm& algorithm, const FormatOf& format_of) {
    std::vector<schedule::LinkFormat> links;
    const auto own = static_cast<Protocol>(algorithm.protocol);
    for (const Protocol protocol : {own, Protocol::ll, Protocol::ll128, Protocol::simple}) {
        const bool named = (algorithm.protocols >> static_cast<std::uint32_t>(protocol) & 1u) != 0;
        if (protocol != own && !named) continue;
        if (std::ranges::count(links, protocol, &schedule::LinkFormat::protocol) > 0) continue;
        try {
            links.push_back(format_of(protocol));
        } catch (const Error& e) {
            if (e.code() != ExitCode::unusable_engine) throw;
        }
    }
    return links;
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
    const std::vector<schedule::LinkFormat> links = links_of(algorithm, format_of);
    if (links.empty())
        throw Error{
            ExitCode::unusable_engine,
            std::string{algorithm.id} + ": the engine has none of the protocols that it can be played with"};
    std::vector<Variant> all;
    for (const schedule::LinkFormat& link : links) {
        all.push_back({algorithm, {.id = algorithm.id}, link, schedule::usual_options(algorithm)});
        if (all.size() > 1) all.back().choice.words["protocol"] = name_of(link.protocol);
    }
    std::ranges::copy(with_options(Variant{all.front()}), std::back_inserter(all));
    return all;
}

}  // namespace ringscope::conform
