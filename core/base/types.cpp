// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/types.hpp"

#include <array>

namespace ringscope {
namespace {

struct TypeRow {
    std::string_view name, nccl_tests_name;
    std::int64_t bytes;
};

constexpr std::array<TypeRow, RINGSCOPE_DTYPE_COUNT> type_rows{{
    {"float32", "float", 4},
    {"float64", "double", 8},
    {"float16", "half", 2},
    {"bfloat16", "bfloat16", 2},
    {"int32", "int32", 4},
    {"int64", "int64", 8},
    {"uint8", "uint8", 1},
    {"int8", "int8", 1},
    {"uint32", "uint32", 4},
    {"uint64", "uint64", 8},
    {"float8_e4m3", "f8e4m3", 1},
    {"float8_e5m2", "f8e5m2", 1},
}};
constexpr std::array<std::string_view, RINGSCOPE_REDUCTION_COUNT> op_names{
    "sum", "prod", "min", "max", "avg"};
constexpr std::array<std::string_view, RINGSCOPE_PROTOCOL_COUNT> protocol_names{"ll", "ll128", "simple"};
constexpr std::array<std::string_view, 3> mode_names{"isolated", "back-to-back", "graph"};

template <class Enum, std::size_t n>
std::optional<Enum> find(const std::array<std::string_view, n>& names, std::string_view name) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
        if (names[i] == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

template <class Enum>
std::size_t index_of(Enum value) noexcept {
    return static_cast<std::size_t>(value);
}

}  // namespace

std::int64_t size_of(DataType dtype) noexcept {
    return type_rows[index_of(dtype)].bytes;
}

std::string_view name_of(DataType dtype) noexcept {
    return type_rows[index_of(dtype)].name;
}
std::string_view name_of(ReduceOp op) noexcept {
    return op_names[index_of(op)];
}
std::string_view name_of(Protocol protocol) noexcept {
    return protocol_names[index_of(protocol)];
}
std::string_view name_of(Mode mode) noexcept {
    return mode_names[index_of(mode)];
}
std::string_view nccl_tests_name_of(DataType dtype) noexcept {
    return type_rows[index_of(dtype)].nccl_tests_name;
}

std::optional<DataType> data_type(std::string_view name) noexcept {
    for (std::size_t i = 0; i < type_rows.size(); ++i) {
        if (type_rows[i].name == name || type_rows[i].nccl_tests_name == name)
            return static_cast<DataType>(i);
    }
    return std::nullopt;
}

std::optional<ReduceOp> reduce_op(std::string_view name) noexcept {
    return find<ReduceOp>(op_names, name);
}
std::optional<Protocol> protocol(std::string_view name) noexcept {
    return find<Protocol>(protocol_names, name);
}
std::optional<Mode> mode(std::string_view name) noexcept {
    return find<Mode>(mode_names, name);
}

}  // namespace ringscope
