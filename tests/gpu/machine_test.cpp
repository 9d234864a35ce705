// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/time.hpp"
#include "machine/gpu.hpp"
#include "machine/kernels.hpp"
#include "machine/survey.hpp"
#include "tests/gpu/engine_support.hpp"

// What GPUs can do, measured: what the survey gives, and that its kernels move what they are timed for.
namespace ringscope::gpu {
namespace {

using machine::Survey;

class Machine : public OnGpu {};
class MachineOn : public OnGpu, public testing::WithParamInterface<GpuEngine> {};

Survey survey_by(int ranks, const std::string& engine) {
    Survey result;
    bootstrap::run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        engine::host::HostEngine host{bootstrap, {.wait_ns = 20'000'000'000, .oversubscribed = true}};
        CudaEngine cuda{bootstrap, host.control(), {.wait_ns = 20'000'000'000}};
        Survey mine = machine::survey(bootstrap, {.host = host, .cuda = &cuda, .names = {engine}});
        if (bootstrap.rank() == 0) result = std::move(mine);
        bootstrap.barrier();
    });
    return result;
}

bool has_latency(GpuEngine engine) {
    return engine != GpuEngine::host_driven;
}

/// Rates between those of an old PCIe link and ten times an H200's memory; a flag takes 0.1 us to 1 ms.
TEST_P(MachineOn, EveryOrderedPair_HasPlausibleFigures) {
    const GpuEngine engine = GetParam();
    for (const int ranks : {2, 4}) {
        std::set<std::pair<int, int>> rated, timed;
        for (const trace::MachineRow& row : survey_by(ranks, name_of(engine)).rows) {
            EXPECT_EQ(row.engine, name_of(engine));
            if (row.bytes == machine::flag_bytes) {
                EXPECT_GT(row.latency_ns, 100);
                EXPECT_LT(row.latency_ns, 1'000'000);
                timed.emplace(row.src, row.dst);
                continue;
            }
            EXPECT_EQ(row.latency_ns, trace::not_available);
            EXPECT_LT(row.bandwidth, 5e13);
            EXPECT_GT(row.reduction_rate, 1e7);
            EXPECT_EQ(std::isnan(row.copy_engine_bandwidth), engine == GpuEngine::host_driven);
            if (row.bytes < 1 << 20) continue;
            EXPECT_GT(row.bandwidth, 5e8);
            rated.emplace(row.src, row.dst);
        }
        const auto pairs = static_cast<std::size_t>(ranks * (ranks - 1));
        EXPECT_EQ(rated.size(), pairs);
        EXPECT_EQ(timed.size(), has_latency(engine) ? pairs : 0);
    }
}

/// The engine plays as before on the memory that the survey has left.
TEST_P(MachineOn, EngineIsAsGoodAsNewAfterwards) {
    on_virtual_ranks(2, {.wait_ns = 20'000'000'000}, [&](Bootstrap& bootstrap, CudaEngine& cuda) {
        const machine::Effort effort{.sizes = {4096, 1 << 20}, .size_ns = 1'000'000};
        const machine::Figures figures =
            machine::measure_gpu(bootstrap, cuda, GetParam(), effort, has_latency(GetParam()));
        EXPECT_EQ(figures.reductions.size(), 2U);
        Player player{bootstrap, cuda, {.id = "ring-simple", .count = 300'001, .engine = GetParam()}};
        EXPECT_EQ(player.sample(2), "");
    });
}

std::string name_of_param(const testing::TestParamInfo<GpuEngine>& param) {
    if (param.param == GpuEngine::p2p) return "p2p";
    return param.param == GpuEngine::staged ? "staged" : "host_driven";
}

INSTANTIATE_TEST_SUITE_P(
    Engines, MachineOn, testing::Values(GpuEngine::p2p, GpuEngine::staged, GpuEngine::host_driven),
    name_of_param
);

/// 64 bytes behind the end stay as they were.
TEST_F(Machine, CopyKernel_MovesAllOfIt_AndNothingElse) {
    const cuda::Stream stream;
    for (const std::int64_t bytes : {16, 4096, (1 << 20) + 48, 64 << 20}) {
        const cuda::DeviceMemory from{bytes}, to{bytes + 64};
        Bytes data(static_cast<std::size_t>(bytes));
        for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
        upload(from.data(), data, stream);
        cuda::zero(to.data(), bytes + 64, stream);
        machine::launch_copy(to.data(), from.data(), bytes, 3, stream);
        Bytes expected = data;
        expected.resize(expected.size() + 64);
        EXPECT_EQ(download(to.data(), bytes + 64, stream), expected) << bytes;
    }
}

/// Both ends on one GPU, in streams of their own.
TEST_F(Machine, Flag_IsReturned) {
    const cuda::Stream one, two;
    const cuda::DeviceMemory flags{256};
    cuda::zero(flags.data(), 256, one);
    one.synchronize();
    const cuda::PinnedMemory answers{16};
    auto* const shortest = reinterpret_cast<std::int64_t*>(answers.data());
    auto* const first = reinterpret_cast<std::uint64_t*>(flags.data());
    machine::launch_bounce({.there = first + 16, .here = first, .leads = true, .shortest_ns = shortest}, one);
    machine::launch_bounce({.there = first, .here = first + 16, .shortest_ns = shortest + 1}, two);
    one.synchronize();
    two.synchronize();
    EXPECT_GT(shortest[0], 0);
    EXPECT_LT(shortest[0], 500'000'000);
}

TEST_F(Machine, FlagThatNobodyReturns_EndsTheKernel) {
    const cuda::Stream stream;
    const cuda::DeviceMemory flags{256};
    cuda::zero(flags.data(), 256, stream);
    const cuda::PinnedMemory answer{8};
    auto* const shortest = reinterpret_cast<std::int64_t*>(answer.data());
    *shortest = -1;
    auto* const first = reinterpret_cast<std::uint64_t*>(flags.data());
    const std::int64_t begin = now_ns();
    machine::launch_bounce(
        {.there = first + 16,
         .here = first,
         .leads = true,
         .patience_ns = 50'000'000,
         .shortest_ns = shortest},
        stream
    );
    stream.synchronize();
    EXPECT_EQ(*shortest, -1);
    EXPECT_GE(now_ns() - begin, 40'000'000);
    EXPECT_LT(now_ns() - begin, 5'000'000'000);
}

TEST_F(Machine, ColdSteps_AreThoseThatWereTaken) {
    on_virtual_ranks(2, {.wait_ns = 20'000'000'000}, [&](Bootstrap&, CudaEngine& cuda) {
        EXPECT_GT(cuda.cold_steps().first_launch_ns, 0);
        EXPECT_EQ(cuda.cold_steps().ipc_open_ns, -1) << "nothing was opened yet";
        ASSERT_EQ(cuda.refusal(GpuEngine::p2p).reason, "");
        EXPECT_GE(cuda.cold_steps().ipc_open_ns, 0);
    });
}

}  // namespace
}  // namespace ringscope::gpu
