// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "baseline/nccl.hpp"
#include "bootstrap/bootstrap.hpp"
#include "cuda/cuda.hpp"
#include "nccl/nccl.hpp"
#include "reduce/float8.hpp"
#include "reduce/half.hpp"
#include "reduce/reduce.hpp"

namespace ringscope {
namespace {

using baseline::NcclBaseline;
using bootstrap::Bootstrap;

constexpr int ranks = 2;
constexpr std::int64_t wait_ns = 5'000'000'000;
constexpr std::int64_t count = 10'001;

/// What the ranks hold in turn: all results are whole and have at most 3 bits, so that every type holds them
/// exactly.
int input_of(int rank, std::int64_t i) {
    constexpr std::array<std::array<int, ranks>, 5> pairs{{{1, 3}, {2, 4}, {1, 5}, {2, 6}, {4, 6}}};
    return pairs[static_cast<std::size_t>(i) % pairs.size()][static_cast<std::size_t>(rank)];
}

int result_of(ReduceOp op, std::int64_t i) {
    const int a = input_of(0, i), b = input_of(1, i);
    switch (op) {
        case ReduceOp::sum:
            return a + b;
        case ReduceOp::prod:
            return a * b;
        case ReduceOp::min:
            return a;
        case ReduceOp::max:
            return b;
        case ReduceOp::avg:
            return (a + b) / 2;
    }
    return -1;
}

template <class T>
void store(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof value);
}

void store(std::byte* at, DataType dtype, int value) {
    switch (dtype) {
        case DataType::float32:
            return store(at, static_cast<float>(value));
        case DataType::float64:
            return store(at, static_cast<double>(value));
        case DataType::float16:
            return store(at, reduce::to_half(static_cast<float>(value)).bits);
        case DataType::bfloat16:
            return store(at, reduce::to_bfloat16(static_cast<float>(value)).bits);
        case DataType::int32:
            return store(at, std::int32_t{value});
        case DataType::int64:
            return store(at, std::int64_t{value});
        case DataType::uint8:
            return store(at, static_cast<std::uint8_t>(value));
        case DataType::int8:
            return store(at, static_cast<std::int8_t>(value));
        case DataType::uint32:
            return store(at, static_cast<std::uint32_t>(value));
        case DataType::uint64:
            return store(at, static_cast<std::uint64_t>(value));
        case DataType::float8_e4m3:
            return store(at, reduce::to_float8_e4m3(static_cast<float>(value)).bits);
        case DataType::float8_e5m2:
            return store(at, reduce::to_float8_e5m2(static_cast<float>(value)).bits);
    }
}

template <class Value>
std::vector<std::byte> filled(DataType dtype, std::int64_t elements, Value value) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(elements * size_of(dtype)));
    for (std::int64_t i = 0; i < elements; ++i) store(bytes.data() + i * size_of(dtype), dtype, value(i));
    return bytes;
}

AlgorithmChoice choice(std::map<std::string, std::string> words = {}) {
    return {.id = baseline::Nccl::id, .params = {}, .words = std::move(words)};
}

/// A rank with a GPU of its own, its input there, and room for outputs.
struct Rank {
    Rank(Bootstrap& bootstrap, DataType type, std::int64_t elements)
        : rank{bootstrap.rank()}, dtype{type}, bytes{elements * size_of(type)} {}

    void fill(std::byte* input) const {
        const auto data = filled(dtype, bytes / size_of(dtype), [&](auto i) { return input_of(rank, i); });
        cuda::copy_to_device(input, data.data(), bytes, stream);
        stream.synchronize();
    }
    [[nodiscard]] bool holds_result(const std::byte* output, ReduceOp op) const {
        std::vector<std::byte> got(static_cast<std::size_t>(bytes));
        cuda::copy_to_host(got.data(), output, bytes, stream);
        stream.synchronize();
        return got == filled(dtype, bytes / size_of(dtype), [&](auto i) { return result_of(op, i); });
    }

    int rank;
    DataType dtype;
    std::int64_t bytes;
    cuda::Stream stream;
};

class TwoGpus : public testing::Test {
 protected:
    void SetUp() override {
        std::string reason;
        if (const int gpus = cuda::device_count(reason); gpus < ranks) {
            GTEST_SKIP() << (gpus == 0 ? reason : "one GPU, and two are needed");
        }
        if (!nccl::available(reason)) GTEST_SKIP() << reason;
        unsetenv("NCCL_PROFILER_PLUGIN");
    }
    /// Ranks as threads, each on a GPU of its own.
    static void run(const std::function<void(Bootstrap&)>& body) {
        bootstrap::run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            cuda::use_device(bootstrap.rank());
            body(bootstrap);
        });
    }
    static void expect_all_operations(Bootstrap& bootstrap, NcclBaseline& nccl, DataType dtype) {
        const Rank here{bootstrap, dtype, count};
        const cuda::DeviceMemory input{here.bytes}, output{here.bytes};
        here.fill(input.data());
        for (int number = 0; number < RINGSCOPE_REDUCTION_COUNT; ++number) {
            const auto op = static_cast<ReduceOp>(number);
            const auto [collective, chosen_by] =
                nccl.prepare(choice(), here.dtype, op, count, Mode::isolated);
            const engine::Operation operation{input.data(), output.data()};
            const engine::Timing timing = collective->sample({&operation, 1});
            EXPECT_TRUE(here.holds_result(output.data(), op)) << name_of(here.dtype) << name_of(op);
            EXPECT_GT(timing.device_ns, 0);
            EXPECT_GT(timing.exit_ns - timing.enter_ns, timing.device_ns / 2);
        }
    }
    /// One operation with these parameters, checked; gives rank 0's word on what NCCL chose.
    static std::string chosen(const AlgorithmChoice& which, std::int64_t elements = count) {
        std::string words;
        run([&](Bootstrap& bootstrap) {
            NcclBaseline nccl{bootstrap, wait_ns};
            const Rank here{bootstrap, DataType::float32, elements};
            const cuda::DeviceMemory input{here.bytes}, output{here.bytes};
            here.fill(input.data());
            const auto [collective, chosen_by] =
                nccl.prepare(which, here.dtype, ReduceOp::sum, elements, Mode::isolated);
            EXPECT_EQ(chosen_by(), "");
            const engine::Operation operation{input.data(), output.data()};
            collective->sample({&operation, 1});
            EXPECT_TRUE(here.holds_result(output.data(), ReduceOp::sum));
            if (bootstrap.rank() == 0) words = chosen_by();
        });
        return words;
    }
};

TEST_F(TwoGpus, eight_bit_floats_where_nccl_has_them) {
    const std::string reason = nccl::missing_type(DataType::float8_e4m3);
    if (!reason.empty()) GTEST_SKIP() << reason;
    run([](Bootstrap& bootstrap) {
        NcclBaseline nccl{bootstrap, wait_ns};
        for (const DataType dtype : {DataType::float8_e4m3, DataType::float8_e5m2})
            expect_all_operations(bootstrap, nccl, dtype);
    });
}

TEST_F(TwoGpus, all_operations_of_all_other_types) {
    run([](Bootstrap& bootstrap) {
        NcclBaseline nccl{bootstrap, wait_ns};
        for (int type = 0; type < RINGSCOPE_DTYPE_COUNT; ++type) {
            const auto dtype = static_cast<DataType>(type);
            if (reduce::has(dtype)) expect_all_operations(bootstrap, nccl, dtype);
        }
    });
}

TEST_F(TwoGpus, in_place_and_back_to_back) {
    run([](Bootstrap& bootstrap) {
        NcclBaseline nccl{bootstrap, wait_ns};
        const Rank here{bootstrap, DataType::int32, count};
        const cuda::DeviceMemory first{here.bytes}, second{here.bytes};
        for (const cuda::DeviceMemory* buffer : {&first, &second}) here.fill(buffer->data());
        const std::vector<engine::Operation> operations{
            {first.data(), first.data()}, {second.data(), second.data()}};
        const auto [collective, chosen_by] =
            nccl.prepare(choice(), here.dtype, ReduceOp::sum, count, Mode::back_to_back);
        collective->sample(operations);
        for (const cuda::DeviceMemory* buffer : {&first, &second})
            EXPECT_TRUE(here.holds_result(buffer->data(), ReduceOp::sum));
    });
}

TEST_F(TwoGpus, a_graph_runs_what_it_was_armed_with) {
    run([](Bootstrap& bootstrap) {
        NcclBaseline nccl{bootstrap, wait_ns};
        const Rank here{bootstrap, DataType::float32, count};
        const cuda::DeviceMemory input{here.bytes}, first{here.bytes}, second{here.bytes};
        here.fill(input.data());
        const std::vector<engine::Operation> operations{
            {input.data(), first.data()}, {input.data(), second.data()}};
        const auto [collective, chosen_by] =
            nccl.prepare(choice(), here.dtype, ReduceOp::max, count, Mode::graph);
        // As a case does it: one operation at first, then all of them, again and again.
        for (const std::size_t ops : {1u, 2u, 2u, 2u}) {
            const auto wanted = std::span{operations}.first(ops);
            for (const engine::Operation& operation : wanted)
                cuda::zero(operation.output, here.bytes, here.stream);
            here.stream.synchronize();
            collective->arm(wanted, nullptr);
            EXPECT_GT(collective->sample(wanted).device_ns, 0);
            for (const engine::Operation& operation : wanted)
                EXPECT_TRUE(here.holds_result(operation.output, ReduceOp::max));
        }
        EXPECT_THAT(chosen_by(), testing::HasSubstr(" channel"));
    });
}

TEST_F(TwoGpus, nccl_obeys_the_parameters_and_says_so) {
    EXPECT_THAT(chosen(choice({{"algo", "ring"}, {"proto", "ll"}})), testing::StartsWith("ring ll "));
    EXPECT_THAT(chosen(choice({{"algo", "ring"}, {"proto", "simple"}})), testing::StartsWith("ring simple "));
    EXPECT_THAT(chosen(choice({{"algo", "tree"}, {"proto", "ll"}})), testing::StartsWith("tree ll "));
    EXPECT_EQ(std::getenv("NCCL_ALGO"), nullptr);
    EXPECT_EQ(std::getenv("NCCL_PROTO"), nullptr);
    EXPECT_EQ(std::getenv("NCCL_PROFILER_PLUGIN"), nullptr);
}

TEST_F(TwoGpus, a_number_of_channels_holds) {
    AlgorithmChoice one = choice({{"algo", "ring"}, {"proto", "simple"}});
    one.params = {{"max_ctas", 1}};
    EXPECT_EQ(chosen(one, 1'000'000), "ring simple 1 channel");
}

TEST_F(TwoGpus, without_parameters_something_is_chosen) {
    EXPECT_THAT(chosen(choice()), testing::HasSubstr(" channel"));
}

TEST_F(TwoGpus, a_symmetric_window_holds_the_buffers) {
    run([](Bootstrap& bootstrap) {
        NcclBaseline nccl{bootstrap, wait_ns};
        const AlgorithmChoice symmetric = choice({{"window", "symmetric"}});
        const Rank here{bootstrap, DataType::float32, count};
        const std::int64_t half = (here.bytes + 4095) / 4096 * 4096;
        std::byte* const memory = nccl.symmetric_memory(symmetric, 2 * half);
        EXPECT_EQ(nccl.symmetric_memory(symmetric, half), memory);
        here.fill(memory);
        const auto [collective, chosen_by] =
            nccl.prepare(symmetric, here.dtype, ReduceOp::sum, count, Mode::isolated);
        const engine::Operation operation{memory, memory + half};
        collective->sample({&operation, 1});
        EXPECT_TRUE(here.holds_result(operation.output, ReduceOp::sum));
        EXPECT_NE(nccl.symmetric_memory(symmetric, 64 * half), nullptr);
    });
}

TEST_F(TwoGpus, a_missing_rank_is_a_timeout_and_the_next_case_runs) {
    run([](Bootstrap& bootstrap) {
        constexpr std::int64_t short_ns = 300'000'000;
        NcclBaseline nccl{bootstrap, short_ns};
        const Rank here{bootstrap, DataType::float32, count};
        const cuda::DeviceMemory input{here.bytes}, output{here.bytes};
        here.fill(input.data());
        const engine::Operation operation{input.data(), output.data()};
        const auto prepare = [&] {
            return nccl.prepare(choice(), here.dtype, ReduceOp::sum, count, Mode::isolated);
        };
        const auto [collective, chosen_by] = prepare();
        collective->sample({&operation, 1});
        if (bootstrap.rank() == 0) {
            const std::int64_t begin = now_ns();
            try {
                collective->sample({&operation, 1});
                ADD_FAILURE() << "an all-reduce of one";
            } catch (const Error& e) {
                EXPECT_EQ(e.code(), ExitCode::timeout);
                EXPECT_THAT(e.what(), testing::HasSubstr("timeout.wait"));
            }
            EXPECT_LT(now_ns() - begin, 10'000'000'000);
        }
        bootstrap.barrier();
        const auto next = prepare().collective;
        cuda::zero(output.data(), here.bytes, here.stream);
        here.stream.synchronize();
        next->sample({&operation, 1});
        EXPECT_TRUE(here.holds_result(output.data(), ReduceOp::sum));
    });
}

}  // namespace
}  // namespace ringscope
