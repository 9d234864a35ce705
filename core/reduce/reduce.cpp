// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce/reduce.hpp"

#include "reduce/table.hpp"

namespace ringscope::reduce {
namespace {

const Table& widest_table() {
#ifdef RINGSCOPE_REDUCE_AVX2
    if (__builtin_cpu_supports("avx2")) return avx2_table;
#endif
    return baseline_table;
}

}  // namespace

ReduceCopy reduce_copy(DataType dtype, ReduceOp op) {
    static const Table& table = widest_table();
    return table.at(static_cast<std::size_t>(dtype)).at(static_cast<std::size_t>(op));
}

}  // namespace ringscope::reduce
