// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "baseline/nccl.hpp"

// What is known of NCCL without having it.
namespace ringscope::baseline {
namespace {

bool is_float(DataType dtype) {
    switch (dtype) {
        case DataType::float32:
        case DataType::float64:
        case DataType::float16:
        case DataType::bfloat16:
        case DataType::float8_e4m3:
        case DataType::float8_e5m2:
            return true;
        default:
            return false;
    }
}

}  // namespace

bool Nccl::rounds_factor(DataType dtype, ReduceOp op, std::int32_t ranks) {
    return op == ReduceOp::avg && is_float(dtype) && !std::has_single_bit(static_cast<std::uint32_t>(ranks));
}

}  // namespace ringscope::baseline
