/* SPDX-FileCopyrightText: The ringscope authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "ringscope/abi.h" /* first, so that it stands on its own */

#include "tests/abi/layout.h"

_Static_assert(__STDC_VERSION__ == 201112L, "compiled as C11");

const size_t layout_c11[LAYOUT_ENTRIES] = RINGSCOPE_LAYOUT;
