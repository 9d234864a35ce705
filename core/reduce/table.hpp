// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "reduce/reduce.hpp"

namespace ringscope::reduce {

using TableRow = std::array<ReduceCopy, RINGSCOPE_REDUCTION_COUNT>;
using Table = std::array<TableRow, RINGSCOPE_DTYPE_COUNT>;  ///< [dtype][op]; null where there is none

extern const Table baseline_table;  ///< what the compiler's default target can do
extern const Table avx2_table;      ///< x86-64 with AVX2; linked on x86-64 only

}  // namespace ringscope::reduce
