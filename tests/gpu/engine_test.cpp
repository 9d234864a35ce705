// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "engine/cuda/layout.hpp"
#include "tests/gpu/count.hpp"
#include "tests/gpu/engine_support.hpp"

namespace ringscope::gpu {
namespace {

using schedule::Direct;
using testing::HasSubstr;

constexpr CudaOptions patient{.wait_ns = 20'000'000'000};

/// Shifts of the buffers, and what of the messages lies in them: nothing where they are shifted.
std::vector<std::pair<std::int64_t, Direct>> places_of(const std::string& id) {
    if (engine::host::algorithm_of(id).protocol != RINGSCOPE_SIMPLE)
        return {{0, Direct::none}, {1, Direct::none}};
    return {{0, Direct::none}, {0, Direct::results}, {0, Direct::all}, {1, Direct::none}};
}

class EngineOn : public OnGpu, public testing::WithParamInterface<int> {};

/// 3, 4, 5, 8 ranks and more than there are GPUs: every schedule, counts that leave ranks or lanes without
/// work, in and out of place, buffers shifted by an element, through slots and from buffer to buffer.
TEST_P(EngineOn, AllSchedules_AreExact) {
    on_virtual_ranks(GetParam(), patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        const int n = bootstrap.size();
        for (const std::string& id : engine::host::all_algorithms) {
            if (!carried(engine, bootstrap, id)) continue;
            for (const std::int64_t count : {0, 1, n - 1, n, n + 1, 127, 1023, 65537, (1 << 20) + 1}) {
                for (const auto& [offset, direct] : places_of(id)) {
                    for (const bool in_place : {false, true}) {
                        Player player{
                            bootstrap,
                            engine,
                            {.id = id,
                             .count = count,
                             .in_place = in_place,
                             .offset = offset,
                             .direct = direct}};
                        for (int i = 0; i < 2; ++i) EXPECT_EQ(player.sample(2), "");
                    }
                }
            }
        }
    });
}

TEST_P(EngineOn, AllTypesAndOperations_AreExact) {
    on_virtual_ranks(GetParam(), patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (const std::string& id : engine::host::all_algorithms) {
            if (!carried(engine, bootstrap, id)) continue;
            for (int dtype = 0; dtype < RINGSCOPE_DTYPE_COUNT; ++dtype) {
                if (!reduce::has(static_cast<DataType>(dtype))) continue;
                for (int op = 0; op < RINGSCOPE_REDUCTION_COUNT; ++op) {
                    Player player{
                        bootstrap,
                        engine,
                        {.id = id,
                         .count = 100'003,
                         .dtype = static_cast<DataType>(dtype),
                         .op = static_cast<ReduceOp>(op)}};
                    EXPECT_EQ(player.sample(1), "");
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(
    VirtualRanks, EngineOn, testing::Values(2, 3, 4, 5, 7, 8), testing::PrintToStringParamName()
);

class EngineOnGpu : public OnGpu {};

/// A graph of 4 operations, launched 1000 times, with eager calls in between: the counters are in device
/// memory, so either goes on where the other stopped.
TEST_F(EngineOnGpu, GraphsMixedWithEagerCalls_AreExact) {
    on_virtual_ranks(2, patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
        for (const char* id : {"ring-ll", "ring-ll128", "ring-simple"}) {
            if (!carried(engine, bootstrap, id)) continue;
            Player player{
                bootstrap, engine, {.id = id, .count = 10'007, .mode = Mode::graph, .operations = 4}};
            player.arm();
            for (int i = 0; i < 1000; ++i) {
                EXPECT_EQ(player.sample(4), "");
                EXPECT_EQ(player.sample(1 + i % 3), "");
            }
        }
    });
}

/// Counters that begin just before a wrap of LL's flags, or of their half: stale flags must not match. The
/// flags of LL128 go on past 32 bits.
TEST_F(EngineOnGpu, NumbersAroundAWrap_AreExact) {
    for (const std::uint64_t first : {(std::uint64_t{1} << 31) - 16, (std::uint64_t{1} << 32) - 16}) {
        CudaOptions options = patient;
        options.first_number = first;
        on_virtual_ranks(3, options, [&](Bootstrap& bootstrap, CudaEngine& engine) {
            for (const char* id : {"ring-ll", "ring-ll128", "ring-simple"}) {
                if (!carried(engine, bootstrap, id)) continue;
                for (const std::int64_t count : {5, 4096}) {
                    Player player{bootstrap, engine, {.id = id, .count = count}};
                    for (int i = 0; i < 64; ++i) EXPECT_EQ(player.sample(1 + i % 2), "") << first;
                }
            }
        });
    }
}

/// 100,000,000 bytes on 4 ranks: each sends 2(N-1)M/N = 150,000,000, on LL twice that on the wire. On LL128 a
/// slot of 512 lines holds 61,440 bytes, so a channel's quarter of a chunk, 6,250,000, goes in 102 slices, of
/// 511 lines each; a link carries 6 chunks. Counted by the threads that store in a peer's memory or load from
/// it, which know nothing of the schedule; chunks are equal, so a rank loads what it need not store.
TEST_F(EngineOnGpu, CountedBytes_AreTheClosedForm) {
    struct Wire {
        std::string id;
        Direct direct;
        std::uint64_t sent, loaded;
    };
    const std::vector<Wire> wires{
        {"ring-ll", Direct::none, 300'000'000, 0},
        {"ring-ll128", Direct::none, 6 * 4 * 102 * 511 * 128, 0},
        {"ring-simple", Direct::none, 150'000'000, 0},
        {"ring-simple", Direct::results, 150'000'000, 0},
        {"ring-simple", Direct::all, 125'000'000, 25'000'000}};
    for (const auto& [id, direct, sent, loaded] : wires) {
        const Trial trial{
            .id = id, .count = 25'000'000, .channels = 4, .slot_bytes = 65536, .direct = direct};
        const engine::cuda::Layout layout{plan_of(trial, 4)};
        const std::int64_t numbers = std::int64_t{trial.channels} * layout.ends();
        bootstrap::run_as_threads(4, [&, id = id, sent = sent, loaded = loaded](Bootstrap& bootstrap) {
            engine::host::HostEngine host{bootstrap, {.wait_ns = patient.wait_ns, .oversubscribed = true}};
            std::string reason;
            const int devices = cuda::device_count(reason);
            cuda::use_device(bootstrap.rank() % devices);
            const cuda::Stream stream;
            const cuda::DeviceMemory counted{numbers * 8};
            cuda::zero(counted.data(), counted.bytes(), stream);
            stream.synchronize();
            CudaOptions options = patient;
            options.counting = counting_kernels();
            options.counting.counted = reinterpret_cast<std::uint64_t*>(counted.data());
            CudaEngine engine{bootstrap, host.control(), options};
            if (!carried(engine, bootstrap, id)) return;
            Player player{bootstrap, engine, trial};
            EXPECT_EQ(player.sample(1), "");
            std::vector<std::uint64_t> bytes(static_cast<std::size_t>(numbers));
            cuda::copy_to_host(bytes.data(), counted.data(), counted.bytes(), stream);
            stream.synchronize();
            std::uint64_t to_next = 0, from_last = 0, others = 0;
            for (std::int32_t channel = 0; channel < trial.channels; ++channel) {
                const auto& ends = layout.ends_of(bootstrap.rank(), channel);
                for (std::size_t i = 0; i < ends.size(); ++i) {
                    const std::uint64_t number = bytes[static_cast<std::size_t>(channel * layout.ends()) + i];
                    const bool next = ends[i].sends && ends[i].peer == (bootstrap.rank() + 1) % 4;
                    const bool last = !ends[i].sends && ends[i].peer == (bootstrap.rank() + 3) % 4;
                    (next ? to_next : last ? from_last : others) += number;
                }
            }
            EXPECT_EQ(to_next, sent) << id;
            EXPECT_EQ(from_last, loaded) << id;
            EXPECT_EQ(others, 0u);
            bootstrap.barrier();
        });
    }
}

TEST_F(EngineOnGpu, Trace_IsWhatThePlanDeclares) {
    for (const std::string& id : engine::host::all_algorithms) {
        on_virtual_ranks(3, patient, [&](Bootstrap& bootstrap, CudaEngine& engine) {
            if (!carried(engine, bootstrap, id)) return;
            expect_declared_trace(bootstrap, engine, {.id = id, .count = 300'001});
        });
    }
}

using engine::cuda::PeerLie;

/// What two ranks say of a lie before they play anything.
std::string complaint_about(const PeerLie& lie) {
    CudaOptions options = patient;
    options.wait_ns = 500'000'000;
    options.peer_lie = lie;
    return error_of(
        [&] {
            on_virtual_ranks(2, options, [](Bootstrap& bootstrap, CudaEngine& engine) {
                const Player player{bootstrap, engine, {.id = "ring-ll"}};
            });
        },
        ExitCode::unusable_engine
    );
}

TEST_F(EngineOnGpu, PeersThatLie_AreFoundBeforeAnyAlgorithm) {
    const std::string what = complaint_about({.kind = PeerLie::Kind::altered});
    EXPECT_THAT(what, HasSubstr("wrong data arrive from the GPU of rank 0 at that of rank 1"));
    EXPECT_THAT(what, HasSubstr("wrong data arrive from the GPU of rank 1 at that of rank 0"));
}

TEST_F(EngineOnGpu, PairThatLiesInOneDirection_IsNamedInThatOneOnly) {
    const std::map<PeerLie::Kind, std::string> said{
        {PeerLie::Kind::dropped, "nothing arrives"},
        {PeerLie::Kind::misplaced, "wrong data arrive"},
        {PeerLie::Kind::altered, "wrong data arrive"}};
    for (const auto& [kind, words] : said) {
        for (const int src : {0, 1}) {
            const std::string from = std::to_string(src), to = std::to_string(1 - src);
            EXPECT_EQ(
                complaint_about({.kind = kind, .src = src, .dst = 1 - src}),
                "peer access between the GPUs does not work: " + words + " from the GPU of rank " + from +
                    " at that of rank " + to
            );
        }
    }
}

TEST_F(EngineOnGpu, KernelsThatWouldNotBeResidentTogether_AreRefused) {
    const std::string what = error_of(
        [&] {
            on_virtual_ranks(8, patient, [](Bootstrap& bootstrap, CudaEngine& engine) {
                Player player{bootstrap, engine, {.id = "ring-simple", .count = 1 << 20, .channels = 1024}};
            });
        },
        ExitCode::usage
    );
    EXPECT_THAT(what, HasSubstr("would not be resident together"));
}

TEST_F(EngineOnGpu, PeerThatDoesNotCome_IsNamed) {
    for (const char* id : {"ring-ll", "ring-ll128", "ring-simple"}) {
        EXPECT_THAT(
            complaint_about_absent_peer({.id = id}),
            HasSubstr("rank 0 waits for data from rank 1 at step 0, chunk")
        );
    }
}

}  // namespace
}  // namespace ringscope::gpu
