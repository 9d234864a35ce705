// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reduce/reduce.hpp"
#include "tests/gpu/engine_support.hpp"

// GPUs that meet in memory of the host: the interpreter kernel, and copy engines.
namespace ringscope::gpu {
namespace {

using testing::HasSubstr;

constexpr CudaOptions patient{.wait_ns = 20'000'000'000};

/// Those whose protocol can be staged.
std::vector<std::string> algorithms_of(bool copy_engines) {
    if (copy_engines) return schedules::all;
    std::vector<std::string> ids = engine::host::all_algorithms;
    const engine::Engine& staged = *engine::find_engine(name_of(GpuEngine::staged));
    std::erase_if(ids, [&](const std::string& id) {
        return !staged.has(static_cast<Protocol>(algorithm_of(id).protocol));
    });
    return ids;
}

struct Shape {
    int ranks;
    bool copy_engines;
};

std::string name_of_shape(const testing::TestParamInfo<Shape>& info) {
    return std::to_string(info.param.ranks) + (info.param.copy_engines ? "_by_copy_engines" : "_by_kernels");
}

/// The streams of ranks that share a GPU would stand in each other's queues.
bool has_a_gpu_per_rank() {
    std::string reason;
    return cuda::device_count(reason) >= 2;
}

class StagedOn : public OnGpu, public testing::WithParamInterface<Shape> {
 protected:
    void SetUp() override {
        OnGpu::SetUp();
        if (GetParam().copy_engines && !has_a_gpu_per_rank()) GTEST_SKIP() << "copy engines need two GPUs";
    }
};

TEST_P(StagedOn, AllSchedules_AreExact) {
    const auto [ranks, copy_engines] = GetParam();
    on_virtual_ranks(ranks, patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (const std::string& id : algorithms_of(copy_engines)) {
            for (const std::int64_t count : {0, 1, ranks - 1, ranks, ranks + 1, 1023, 65537, (1 << 20) + 1}) {
                for (const bool shifted_and_in_place : {false, true}) {
                    Player player{
                        bootstrap,
                        engine,
                        {.id = id,
                         .count = count,
                         .in_place = shifted_and_in_place,
                         .offset = shifted_and_in_place ? 1 : 0,
                         .engine = GpuEngine::staged,
                         .copy_engines = copy_engines}};
                    for (int i = 0; i < 2; ++i) EXPECT_EQ(player.sample(2), "");
                }
            }
        }
    });
}

TEST_P(StagedOn, AllTypesAndOperations_AreExact) {
    const auto [ranks, copy_engines] = GetParam();
    on_virtual_ranks(ranks, patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (int dtype = 0; dtype < RINGSCOPE_DTYPE_COUNT; ++dtype) {
            if (!reduce::has(static_cast<DataType>(dtype))) continue;
            for (int op = 0; op < RINGSCOPE_REDUCTION_COUNT; ++op) {
                Player player{
                    bootstrap,
                    engine,
                    {.id = "ring-simple",
                     .count = 100'003,
                     .dtype = static_cast<DataType>(dtype),
                     .op = static_cast<ReduceOp>(op),
                     .engine = GpuEngine::staged,
                     .copy_engines = copy_engines}};
                EXPECT_EQ(player.sample(1), "");
            }
        }
    });
}

TEST_P(StagedOn, Trace_IsWhatThePlanDeclares) {
    const auto [ranks, copy_engines] = GetParam();
    on_virtual_ranks(ranks, patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (const std::string& id : algorithms_of(copy_engines)) {
            expect_declared_trace(
                bootstrap, engine,
                {.id = id, .count = 300'001, .engine = GpuEngine::staged, .copy_engines = copy_engines}
            );
        }
    });
}

INSTANTIATE_TEST_SUITE_P(
    VirtualRanks, StagedOn,
    testing::Values(Shape{2, false}, Shape{3, false}, Shape{4, false}, Shape{8, false}, Shape{2, true}),
    name_of_shape
);

class Staged : public OnGpu {};

class StagedByCopyEngines : public OnGpu {
 protected:
    void SetUp() override {
        OnGpu::SetUp();
        if (!has_a_gpu_per_rank()) GTEST_SKIP() << "copy engines need two GPUs";
    }
};

TEST_F(Staged, GraphsMixedWithEagerCalls_AreExact) {
    on_virtual_ranks(2, patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (const char* id : {"ring-ll", "ring-simple"}) {
            Player player{
                bootstrap,
                engine,
                {.id = id,
                 .count = 10'007,
                 .mode = Mode::graph,
                 .operations = 4,
                 .engine = GpuEngine::staged}};
            player.arm();
            for (int i = 0; i < 100; ++i) {
                EXPECT_EQ(player.sample(4), "");
                EXPECT_EQ(player.sample(1 + i % 3), "");
            }
        }
    });
}

void expect_exact_from(std::uint64_t first, int ranks, bool copy_engines) {
    CudaOptions options = patient;
    options.first_number = first;
    on_virtual_ranks(ranks, options, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (const std::string& id : algorithms_of(copy_engines)) {
            Player player{
                bootstrap,
                engine,
                {.id = id, .count = 4096, .engine = GpuEngine::staged, .copy_engines = copy_engines}};
            for (int i = 0; i < 32; ++i) EXPECT_EQ(player.sample(1 + i % 2), "") << first;
        }
    });
}

/// Numbers that begin just before a wrap of the flags of LL.
TEST_F(Staged, NumbersAroundAWrap_AreExact) {
    for (const int bits : {31, 32}) expect_exact_from((std::uint64_t{1} << bits) - 16, 3, false);
}

/// And of the counters that streams compare.
TEST_F(StagedByCopyEngines, NumbersAroundAWrap_AreExact) {
    for (const std::uint64_t wrap : {std::uint64_t{1} << 63, std::uint64_t{0}})
        expect_exact_from(wrap - 16, 2, true);
}

/// More legs than a stream's queue holds: 20 operations back to back, of 128 parts and more each.
TEST_F(StagedByCopyEngines, ManyLegsInARow_AreExact) {
    on_virtual_ranks(2, patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        Player player{
            bootstrap,
            engine,
            {.id = "ring-simple",
             .count = 1 << 20,
             .mode = Mode::back_to_back,
             .channels = 1,
             .operations = 20,
             .engine = GpuEngine::staged,
             .copy_engines = true}};
        for (int i = 0; i < 3; ++i) EXPECT_EQ(player.sample(20), "");
    });
}

/// Whatever is wrong with peers' memory, the host's is not concerned.
TEST_F(Staged, PeersThatLie_DoNotMatter) {
    CudaOptions options = patient;
    options.peer_lie.kind = engine::cuda::PeerLie::Kind::altered;
    on_virtual_ranks(2, options, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        EXPECT_THAT(engine.refusal(GpuEngine::p2p).reason, HasSubstr("wrong data arrive"));
        EXPECT_EQ(engine.refusal(GpuEngine::staged).reason, "");
        for (const char* id : {"ring-ll", "ring-simple"}) {
            Player player{bootstrap, engine, {.id = id, .count = 100'003, .engine = GpuEngine::staged}};
            EXPECT_EQ(player.sample(2), "");
        }
    });
}

TEST_F(Staged, PeerThatDoesNotCome_IsNamed) {
    EXPECT_THAT(
        complaint_about_absent_peer({.id = "ring-simple", .engine = GpuEngine::staged}),
        HasSubstr("rank 0 waits for data from rank 1 at step 0, chunk")
    );
}

TEST_F(StagedByCopyEngines, PeerThatDoesNotCome_IsNamed) {
    EXPECT_THAT(
        complaint_about_absent_peer({.id = "ring-simple", .engine = GpuEngine::staged, .copy_engines = true}),
        HasSubstr("rank 0 waits for data from rank 1 at step 0, chunk")
    );
}

/// The window of a rank that can say so lies on a node that there is.
TEST_F(Staged, NumaNodes_AreOnePerRank) {
    on_virtual_ranks(3, patient, [](Bootstrap&, CudaEngine& engine) {
        EXPECT_EQ(engine.staged_numa_nodes().size(), 0u);
        (void)engine.refusal(GpuEngine::staged);
        const std::vector<std::int32_t> nodes = engine.staged_numa_nodes();
        EXPECT_EQ(nodes.size(), 3u);
        for (const std::int32_t node : nodes) EXPECT_GE(node, -1);
    });
}

}  // namespace
}  // namespace ringscope::gpu
