// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

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

template <int (*count)(int)>
std::int32_t count_chunks(std::int32_t ranks) noexcept {
    try {
        return count(ranks);
    } catch (...) {
        return 0;
    }
}

/// One algorithm of a plugin: `chunks` gives the chunks a message is cut into, `schedule` plays one rank's
/// program.
template <void (*schedule)(Player&), int (*chunks)(int)>
[[nodiscard]] constexpr ringscope_algorithm algorithm(
    const char* id, const char* description, std::int32_t protocol, ClosedForm closed_form = nullptr
) {
    return {
        .size = sizeof(ringscope_algorithm),
        .id = id,
        .description = description,
        .protocol = protocol,
        .chunks = count_chunks<chunks>,
        .play = play_schedule<schedule>,
        .closed_form = closed_form,
        .tune = nullptr,
        .get_extension = nullptr,
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
