// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ringscope::schedule {

/// Where the bytes of a message lie for its receiver: in a slot of the connection, or, where the peers reach
/// each other's user buffers, in the sender's input or in the receiver's output, so that one copy is saved.
enum class Place : std::uint8_t { slot, input, output };

/// Which messages may lie in user buffers: none; complete results, in outputs; contributions as well, in
/// inputs.
enum class Direct : std::uint8_t { none, results, all };

/// As in YAML, in their order.
inline constexpr std::array<std::string_view, 3> direct_names{"none", "results", "all"};

}  // namespace ringscope::schedule
