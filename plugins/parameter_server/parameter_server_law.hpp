// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ringscope/abi.h"

/// Payload bytes that src sends to dst in an all-reduce of `bytes` by servers; see parameter_server_law.cpp.
std::int64_t parameter_server_law(
    const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst
);
