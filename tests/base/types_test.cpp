// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/types.hpp"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

TEST(Types, SizesAndNames_AreThoseOfTheFiles) {
    struct Row {
        DataType dtype;
        std::int64_t bytes;
        const char* name;
        const char* nccl_tests;
    };
    constexpr Row rows[]{
        {DataType::float32, 4, "float32", "float"},
        {DataType::float64, 8, "float64", "double"},
        {DataType::float16, 2, "float16", "half"},
        {DataType::bfloat16, 2, "bfloat16", "bfloat16"},
        {DataType::int32, 4, "int32", "int32"},
        {DataType::int64, 8, "int64", "int64"},
        {DataType::uint8, 1, "uint8", "uint8"},
        {DataType::int8, 1, "int8", "int8"},
        {DataType::uint32, 4, "uint32", "uint32"},
        {DataType::uint64, 8, "uint64", "uint64"},
        {DataType::float8_e4m3, 1, "float8_e4m3", "f8e4m3"},
        {DataType::float8_e5m2, 1, "float8_e5m2", "f8e5m2"}};
    for (const Row& row : rows) {
        EXPECT_EQ(size_of(row.dtype), row.bytes);
        EXPECT_EQ(name_of(row.dtype), row.name);
        EXPECT_EQ(nccl_tests_name_of(row.dtype), row.nccl_tests);
        EXPECT_EQ(data_type(row.name), row.dtype);
        EXPECT_EQ(data_type(row.nccl_tests), row.dtype);
    }
}

TEST(Types, NamesReadBack) {
    for (const auto op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg}) {
        EXPECT_EQ(reduce_op(name_of(op)), op);
    }
    for (const auto m : {Mode::isolated, Mode::back_to_back, Mode::graph}) EXPECT_EQ(mode(name_of(m)), m);
    EXPECT_EQ(name_of(Mode::back_to_back), "back-to-back");
    EXPECT_EQ(name_of(Protocol::ll), "ll");
    EXPECT_EQ(name_of(Protocol::ll128), "ll128");
    EXPECT_EQ(name_of(Protocol::simple), "simple");
}

TEST(Types, OtherWords_AreNothing) {
    for (const char* word : {"", "Float32", "float 32", "complex64"}) EXPECT_FALSE(data_type(word)) << word;
    for (const char* word : {"", "SUM", "mean", "average"}) EXPECT_FALSE(reduce_op(word)) << word;
    for (const char* word : {"", "graphs", "back_to_back"}) EXPECT_FALSE(mode(word)) << word;
}

}  // namespace
}  // namespace ringscope
