// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ringscope/abi.h"

namespace ringscope {

/// Element types; the values are those of the ABI and of the files.
enum class DataType : std::int32_t {
    float32 = RINGSCOPE_FLOAT32,
    float64 = RINGSCOPE_FLOAT64,
    float16 = RINGSCOPE_FLOAT16,
    bfloat16 = RINGSCOPE_BFLOAT16,
    int32 = RINGSCOPE_INT32,
    int64 = RINGSCOPE_INT64,
    uint8 = RINGSCOPE_UINT8,
    int8 = RINGSCOPE_INT8,
    uint32 = RINGSCOPE_UINT32,
    uint64 = RINGSCOPE_UINT64,
    float8_e4m3 = RINGSCOPE_FLOAT8_E4M3,
    float8_e5m2 = RINGSCOPE_FLOAT8_E5M2,
};

enum class ReduceOp : std::int32_t {
    sum = RINGSCOPE_SUM,
    prod = RINGSCOPE_PROD,
    min = RINGSCOPE_MIN,
    max = RINGSCOPE_MAX,
    avg = RINGSCOPE_AVG,
};

enum class Protocol : std::int32_t {
    ll = RINGSCOPE_LL,
    ll128 = RINGSCOPE_LL128,
    simple = RINGSCOPE_SIMPLE,
};

/// How operations follow each other: one per sample after a synchronised start, queued without a pause, or
/// launched together as one CUDA graph.
enum class Mode : std::int32_t { isolated, back_to_back, graph };

[[nodiscard]] std::int64_t size_of(DataType dtype) noexcept;  ///< bytes of one element: 1, 2, 4 or 8

/// Names as in YAML and HDF5: "float32", "sum", "simple", "back-to-back".
[[nodiscard]] std::string_view name_of(DataType dtype) noexcept;
[[nodiscard]] std::string_view name_of(ReduceOp op) noexcept;
[[nodiscard]] std::string_view name_of(Protocol protocol) noexcept;
[[nodiscard]] std::string_view name_of(Mode mode) noexcept;

/// The name in nccl-tests' table: "float", "half", "f8e4m3".
[[nodiscard]] std::string_view nccl_tests_name_of(DataType dtype) noexcept;

/// The inverse of name_of; both spellings of a type are read. Nothing for a word that is no such name.
[[nodiscard]] std::optional<DataType> data_type(std::string_view name) noexcept;
[[nodiscard]] std::optional<ReduceOp> reduce_op(std::string_view name) noexcept;
[[nodiscard]] std::optional<Protocol> protocol(std::string_view name) noexcept;
[[nodiscard]] std::optional<Mode> mode(std::string_view name) noexcept;

}  // namespace ringscope
