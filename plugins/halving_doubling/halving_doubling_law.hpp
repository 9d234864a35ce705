// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ringscope/abi.h"

/// Payload bytes that src sends to dst in a halving-doubling all-reduce of `bytes`; see
/// halving_doubling_law.cpp.
std::int64_t halving_doubling_law(
    const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst
);
