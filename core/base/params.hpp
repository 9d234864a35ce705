// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace ringscope {

/// Parameters that every algorithm takes; an option of its own must not have such a name.
inline constexpr std::array<std::string_view, 7> common_params{
    "channels", "slots", "slot_bytes", "direct", "threads", "copy_engine", "protocol"};

/// Those of the baseline `nccl` alone; an option that is called so would be held to NCCL's values.
inline constexpr std::array<std::string_view, 5> nccl_params{
    "algo", "proto", "window", "min_ctas", "max_ctas"};

}  // namespace ringscope
