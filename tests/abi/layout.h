/* SPDX-FileCopyrightText: The ringscope authors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "ringscope/abi.h"

/* The layout of the ABI as one language sees it. Each language fills it from the same list. */
enum { LAYOUT_ENTRIES = 11 };

#define RINGSCOPE_LAYOUT                                                                                \
    {                                                                                                   \
        sizeof(ringscope_place), offsetof(ringscope_place, slices), sizeof(ringscope_op),               \
            offsetof(ringscope_op, recv), offsetof(ringscope_op, first_chunk), sizeof(ringscope_sink),  \
            sizeof(ringscope_tuning), sizeof(ringscope_algorithm), offsetof(ringscope_algorithm, play), \
            sizeof(ringscope_plugin), offsetof(ringscope_plugin, algorithm)                             \
    }

#ifdef __cplusplus
extern "C" {
#endif
extern const size_t layout_c11[LAYOUT_ENTRIES];
extern const size_t layout_cxx17[LAYOUT_ENTRIES];
#ifdef __cplusplus
}
#endif
