// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce/kernels.hpp"

namespace ringscope::reduce {

constexpr Table avx2_table = kernels;

}  // namespace ringscope::reduce
