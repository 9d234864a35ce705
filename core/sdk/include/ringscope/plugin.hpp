// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <span>
#include <type_traits>

#include "ringscope/abi.h"
#include "ringscope/player.hpp"

/// For plugin authors: turns schedules into the one symbol that a plugin exports.
namespace ringscope {

/// A closed form's signature: payload bytes that src sends to dst for a message of `bytes`.
using ClosedForm =
    std::int64_t (*)(const ringscope_place*, std::int64_t bytes, std::int32_t src, std::int32_t dst);

/// Calls a schedule across the C boundary: exceptions become a status, their text goes to the sink.
template <void (*schedule)(Player&)>
std::int32_t play_schedule(const ringscope_place* place, const ringscope_sink* sink) noexcept {
    try {
        Player player{*place, *sink};
        schedule(player);
        return RINGSCOPE_OK;
    } catch (const PlayStopped& stopped) {
        return stopped.status;
    } catch (const std::exception& e) {
        sink->fail(sink->self, e.what());
    } catch (...) {
        sink->fail(sink->self, "an exception that is not a std::exception");
    }
    return RINGSCOPE_FAILED;
}

/// Calls a count of chunks across the C boundary.
template <auto count, class Place>
std::int32_t count_chunks(Place place) noexcept {
    try {
        return count(place);
    } catch (...) {
        return 0;
    }
}

/// A count of chunks that depends on options takes the place, any other one the number of ranks.
template <auto count>
inline constexpr bool counts_by_ranks = std::is_invocable_v<decltype(count), int>;

template <auto count>
[[nodiscard]] constexpr auto chunks_by_ranks() {
    using Function = std::int32_t (*)(std::int32_t);
    if constexpr (counts_by_ranks<count>)
        return Function{count_chunks<count, std::int32_t>};
    else
        return Function{nullptr};
}

template <auto count>
[[nodiscard]] constexpr auto chunks_by_place() {
    using Function = std::int32_t (*)(const ringscope_place*);
    if constexpr (counts_by_ranks<count>)
        return Function{nullptr};
    else
        return Function{count_chunks<count, const ringscope_place*>};
}

/// What an algorithm may have beyond its schedule and law; see ringscope_algorithm.
struct Extras {
    std::span<const ringscope_option> options{};
    std::int32_t (*takes_part)(const ringscope_place*) = nullptr;
    std::int32_t (*tune)(const ringscope_place*, std::int64_t bytes, ringscope_tuning*) = nullptr;
    std::uint32_t protocols = 0;  ///< bits 1 << RINGSCOPE_LL ...
    const char* gpu_engine = nullptr;
};

/// One algorithm of a plugin: `chunks` gives the chunks a message is cut into (int(int ranks), or
/// int(const ringscope_place*) where options matter), `schedule` plays one rank's program.
template <void (*schedule)(Player&), auto chunks>
[[nodiscard]] constexpr ringscope_algorithm algorithm(
    const char* id, const char* description, std::int32_t protocol, ClosedForm closed_form = nullptr,
    const Extras& extras = {}
) {
    return {
        .size = sizeof(ringscope_algorithm),
        .id = id,
        .description = description,
        .protocol = protocol,
        .chunks = chunks_by_ranks<chunks>(),
        .play = play_schedule<schedule>,
        .closed_form = closed_form,
        .tune = extras.tune,
        .get_extension = nullptr,
        .option_count = static_cast<std::int32_t>(extras.options.size()),
        .options = extras.options.data(),
        .chunks_at = chunks_by_place<chunks>(),
        .takes_part = extras.takes_part,
        .protocols = extras.protocols,
        .gpu_engine = extras.gpu_engine,
    };
}

}  // namespace ringscope

/// The closing line of a plugin: RINGSCOPE_PLUGIN("ring", "1.0", algorithm<...>(...), ...).
#define RINGSCOPE_PLUGIN(NAME, VERSION, ...)                                                     \
    namespace {                                                                                  \
    constexpr ringscope_algorithm ringscope_algorithms[] = {__VA_ARGS__};                        \
    }                                                                                            \
    extern "C" __attribute__((visibility("default"))) const ringscope_plugin ringscope_entry = { \
        .abi_version = RINGSCOPE_ABI_VERSION,                                                    \
        .size = sizeof(ringscope_plugin),                                                        \
        .name = NAME,                                                                            \
        .version = VERSION,                                                                      \
        .algorithm_count = sizeof(ringscope_algorithms) / sizeof(ringscope_algorithms[0]),       \
        .algorithm = [](std::int32_t index) { return &ringscope_algorithms[index]; },            \
    }
