// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <string>
#include <vector>

#include "bench/case_buffers.hpp"
#include "bootstrap/bootstrap.hpp"
#include "engine/catalogue.hpp"
#include "engine/cuda/engine.hpp"
#include "engine/host/engine.hpp"
#include "tests/engine/support.hpp"
#include "tests/gpu/support.hpp"

namespace ringscope::gpu {

using bootstrap::Bootstrap;
using engine::cuda::CudaEngine;
using engine::cuda::CudaOptions;
using engine::cuda::GpuEngine;
using engine::host::algorithm_of;

/// What is played: an algorithm on so many elements.
struct Trial {
    std::string id;
    std::int64_t count = 1024;
    DataType dtype = DataType::float32;
    ReduceOp op = ReduceOp::sum;
    Mode mode = Mode::isolated;
    bool in_place = false;
    std::int64_t offset = 0;  ///< elements
    std::int32_t channels = 2;
    std::int64_t slots = 8, slot_bytes = 16384;
    std::int64_t operations = 2;  ///< of a sample
    GpuEngine engine = GpuEngine::p2p;
    bool copy_engines = false;
    schedule::Direct direct = schedule::Direct::all;

    [[nodiscard]] std::int64_t bytes() const { return count * size_of(dtype); }
};

inline schedule::Plan plan_of(const Trial& trial, int ranks) {
    const ringscope_algorithm& algorithm = algorithm_of(trial.id);
    return schedule::make_plan(
        algorithm, {.ranks = ranks,
                    .bytes = trial.bytes(),
                    .channels = trial.channels,
                    .slots = trial.slots,
                    .slot_bytes = trial.slot_bytes,
                    .link = engine::format_on(
                        *engine::find_engine(name_of(trial.engine)), static_cast<Protocol>(algorithm.protocol)
                    ),
                    .direct = trial.offset == 0 ? trial.direct : schedule::Direct::none}
    );
}

inline std::string text_of(const Trial& trial, int ranks) {
    return trial.id + " on " + std::to_string(ranks) + " by " + name_of(trial.engine) +
           (trial.copy_engines ? " with copy engines, " : ", ") + std::to_string(trial.count) + " x " +
           std::string{name_of(trial.dtype)} + " " + std::string{name_of(trial.op)} +
           (trial.in_place ? ", in place" : "") + ", offset " + std::to_string(trial.offset);
}

/// One rank's side of a trial: made ready, and run as often as a test likes.
class Player {
 public:
    Player(Bootstrap& bootstrap, CudaEngine& engine, const Trial& trial)
        : bootstrap_{bootstrap}, trial_{trial}, plan_{plan_of(trial, bootstrap.size())} {
        const Case point{
            .dtype = trial.dtype,
            .op = trial.op,
            .bytes = trial.bytes(),
            .count = trial.count,
            .offset = trial.offset,
            .in_place = trial.in_place};
        const std::int64_t user_bytes = bench::device_bytes(point, trial.operations);
        prepared_ = engine.prepare(
            {.engine = trial.engine,
             .plan = &plan_,
             .copy_engines = trial.copy_engines,
             .dtype = trial.dtype,
             .op = trial.op,
             .mode = trial.mode,
             .bytes = trial.bytes(),
             .user_bytes = user_bytes}
        );
        verify::Verifier verifier{
            verify::Pattern{trial.dtype, trial.op, bootstrap.size(), VerifyMode::exact}};
        buffers_ = bench::make_device_buffers(
            point, std::move(verifier), bootstrap.rank(), trial.operations, prepared_.user_memory, user_bytes
        );
    }

    /// Runs the first `operations` as a sample; "" when all is right.
    std::string sample(std::int64_t operations) {
        begin(operations);
        prepared_.collective->sample(buffers_->operations().first(static_cast<std::size_t>(operations)));
        return verdict(operations);
    }
    std::string sample_traced(engine::EventLog& events) {
        begin(1);
        prepared_.collective->arm(buffers_->operations().first(1), &events);
        prepared_.collective->sample_traced(buffers_->operations().first(1), events);
        return verdict(1);
    }
    [[nodiscard]] const schedule::Plan& plan() const { return plan_; }
    void arm() { prepared_.collective->arm(buffers_->operations(), nullptr); }

 private:
    void begin(std::int64_t operations) {
        buffers_->fill(operations, ++seed_);
        bootstrap_.barrier();
    }
    std::string verdict(std::int64_t operations) {
        std::string what;
        for (std::int64_t i = 0; i < operations; ++i) what += buffers_->check(i, seed_).what;
        bootstrap_.barrier();
        return what.empty() ? "" : text_of(trial_, bootstrap_.size()) + ": " + what;
    }

    Bootstrap& bootstrap_;
    Trial trial_;
    schedule::Plan plan_;
    engine::cuda::PreparedOnGpu prepared_;
    std::unique_ptr<bench::CaseBuffers> buffers_;
    std::uint64_t seed_ = 0;
};

/// Whether the links between the GPUs at hand carry an algorithm's protocol; where not, says why.
inline bool carried(const CudaEngine& engine, const Bootstrap& bootstrap, const std::string& id) {
    const std::string reason = engine.unsupported(static_cast<Protocol>(algorithm_of(id).protocol));
    if (!reason.empty() && bootstrap.rank() == 0) std::cout << id << " is not played: " << reason << "\n";
    return reason.empty();
}

using Body = std::function<void(Bootstrap&, CudaEngine&)>;

/// Ranks as threads, whose kernels share the GPUs at hand.
inline void on_virtual_ranks(int ranks, const CudaOptions& options, const Body& body) {
    bootstrap::run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        engine::host::HostEngine host{bootstrap, {.wait_ns = options.wait_ns, .oversubscribed = true}};
        CudaEngine engine{bootstrap, host.control(), options};
        body(bootstrap, engine);
        bootstrap.barrier();
    });
}

inline std::string error_of(const std::function<void()>& step, ExitCode code) {
    try {
        step();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), code) << e.what();
        return e.what();
    }
    return "nothing was thrown";
}

/// Each event's times are in order, and what was traced is what the plan declares.
inline void expect_declared_trace(Bootstrap& bootstrap, CudaEngine& engine, const Trial& trial) {
    Player player{bootstrap, engine, trial};
    engine::EventLog events{schedule::events_per_operation(player.plan(), bootstrap.rank())};
    EXPECT_EQ(player.sample_traced(events), "");
    EXPECT_EQ(events.dropped(), 0);
    EXPECT_EQ(std::ssize(events.events()), schedule::events_per_operation(player.plan(), bootstrap.rank()));
    std::int64_t payload = 0, wire = 0;
    for (const engine::RawEvent& e : events.events()) {
        EXPECT_LE(e.begin_ns, e.ready_ns);
        EXPECT_LE(e.ready_ns, e.end_ns);
        EXPECT_GT(e.begin_ticks, 0);
        if (e.direction == trace::Direction::recv) continue;
        payload += e.payload_bytes;
        wire += e.wire_bytes;
    }
    const schedule::DeclaredTraffic declared = schedule::declared_traffic(player.plan());
    EXPECT_EQ(payload, declared.payload.sent_by(bootstrap.rank()));
    EXPECT_EQ(wire, declared.wire.sent_by(bootstrap.rank()));
}

/// Rank 1 never comes; gives what rank 0 says of it.
inline std::string complaint_about_absent_peer(const Trial& trial) {
    CudaOptions options;
    options.wait_ns = 300'000'000;
    return error_of(
        [&] {
            on_virtual_ranks(2, options, [&](Bootstrap& bootstrap, CudaEngine& engine) {
                Player player{bootstrap, engine, trial};
                if (bootstrap.rank() == 0) player.sample(1);
                if (bootstrap.rank() == 1) bootstrap.barrier();
            });
        },
        ExitCode::timeout
    );
}

}  // namespace ringscope::gpu
