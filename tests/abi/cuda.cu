// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/abi/layout.h"
#include "tests/abi/sdk.hpp"

static_assert(__cplusplus == 202002L, "compiled as CUDA C++20");
static_assert(ringscope::sdk_check::checked.size == sizeof(ringscope_algorithm));

extern "C" const size_t layout_cuda[LAYOUT_ENTRIES] = RINGSCOPE_LAYOUT;
