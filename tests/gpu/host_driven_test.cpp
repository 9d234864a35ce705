// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "reduce/reduce.hpp"
#include "tests/gpu/engine_support.hpp"

// The host in the loop of every part.
namespace ringscope::gpu {
namespace {

using engine::cuda::LoopFault;
using testing::HasSubstr;

constexpr CudaOptions patient{.wait_ns = 20'000'000'000, .oversubscribed = true};

Trial trial_of(const std::string& id, std::int64_t count) {
    return {.id = id, .count = count, .engine = GpuEngine::host_driven};
}

class HostDrivenOn : public OnGpu, public testing::WithParamInterface<int> {};

TEST_P(HostDrivenOn, AllSchedules_AreExact) {
    on_virtual_ranks(GetParam(), patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        const int n = bootstrap.size();
        for (const std::string& id : schedules::all) {
            for (const std::int64_t count : {0, 1, n - 1, n, n + 1, 1023, 65537, (1 << 20) + 1}) {
                for (const bool shifted_and_in_place : {false, true}) {
                    Trial trial = trial_of(id, count);
                    trial.offset = shifted_and_in_place ? 1 : 0;
                    trial.in_place = shifted_and_in_place;
                    trial.slot_bytes = 1 << 18;
                    Player player{bootstrap, engine, trial};
                    for (int i = 0; i < 2; ++i) EXPECT_EQ(player.sample(2), "");
                }
            }
        }
    });
}

TEST_P(HostDrivenOn, AllTypesAndOperations_AreExact) {
    on_virtual_ranks(GetParam(), patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (int dtype = 0; dtype < RINGSCOPE_DTYPE_COUNT; ++dtype) {
            if (!reduce::has(static_cast<DataType>(dtype))) continue;
            for (int op = 0; op < RINGSCOPE_REDUCTION_COUNT; ++op) {
                Trial trial = trial_of("two-shot", 10'003);
                trial.dtype = static_cast<DataType>(dtype);
                trial.op = static_cast<ReduceOp>(op);
                Player player{bootstrap, engine, trial};
                EXPECT_EQ(player.sample(1), "");
            }
        }
    });
}

TEST_P(HostDrivenOn, Trace_IsWhatThePlanDeclares) {
    on_virtual_ranks(GetParam(), patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (const std::string& id : schedules::all)
            expect_declared_trace(bootstrap, engine, trial_of(id, 300'001));
    });
}

INSTANTIATE_TEST_SUITE_P(
    VirtualRanks, HostDrivenOn, testing::Values(2, 3, 4, 8), testing::PrintToStringParamName()
);

class HostDriven : public OnGpu {};

/// Where the receivers cannot reach the sender's memory, the slots lie in the host's.
TEST_F(HostDriven, SlotsInMemoryOfTheHost_AreExact) {
    CudaOptions options = patient;
    options.peer_lie.kind = engine::cuda::PeerLie::Kind::altered;
    on_virtual_ranks(3, options, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        EXPECT_NE(engine.refusal(GpuEngine::p2p).reason, "");
        EXPECT_EQ(engine.refusal(GpuEngine::host_driven).reason, "");
        for (const std::string& id : schedules::all) {
            Player player{bootstrap, engine, trial_of(id, 100'003)};
            EXPECT_EQ(player.sample(2), "");
        }
    });
}

TEST_F(HostDriven, PeerThatDoesNotCome_IsNamed) {
    EXPECT_THAT(
        complaint_about_absent_peer(trial_of("ring-simple", 1024)),
        HasSubstr("rank 0 waits for data from rank 1 at step 0, chunk")
    );
}

/// Ranks whose result the verifier rejects when the loop has this fault.
int rejecting_ranks(LoopFault fault, int ranks) {
    CudaOptions options = patient;
    options.loop_fault = fault;
    std::atomic<int> rejecting{0};
    on_virtual_ranks(ranks, options, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        Trial trial = trial_of("ring-simple", 1 << 20);
        trial.channels = 1;
        trial.slot_bytes = 4 << 20;
        Player player{bootstrap, engine, trial};
        if (!player.sample(1).empty()) ++rejecting;
    });
    return rejecting;
}

/// The loop as it is often printed: the flag goes up, and nobody copied the data into the exported slot.
TEST_F(HostDriven, LoopWithoutPublishing_IsCaught) {
    EXPECT_EQ(rejecting_ranks(LoopFault::none, 2), 0);
    EXPECT_EQ(rejecting_ranks(LoopFault::unpublished, 2), 2);
    EXPECT_EQ(rejecting_ranks(LoopFault::unpublished, 3), 3);
}

/// The flag goes up before the stream is done with the copy, which is 20 ms late here: peers read old data.
TEST_F(HostDriven, LoopWithoutSynchronising_IsCaught) {
    EXPECT_GE(rejecting_ranks(LoopFault::unsynchronised, 2), 1);
    EXPECT_GE(rejecting_ranks(LoopFault::unsynchronised, 3), 1);
}

}  // namespace
}  // namespace ringscope::gpu
