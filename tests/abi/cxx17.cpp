// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "ringscope/abi.h"  // first, so that it stands on its own

#include "tests/abi/layout.h"

static_assert(__cplusplus == 201703L, "compiled as C++17");

const size_t layout_cxx17[LAYOUT_ENTRIES] = RINGSCOPE_LAYOUT;
