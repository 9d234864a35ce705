// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/bootstrap.hpp"
#include "cuda/cuda.hpp"
#include "doctor/gpu_work.hpp"
#include "engine/cuda/engine.hpp"
#include "engine/host/engine.hpp"

namespace ringscope::doctor {
namespace {

namespace wall = ringscope::cuda;
using engine::cuda::CudaEngine;
using engine::cuda::GpuEngine;

constexpr std::int64_t wait_ns = 2'000'000'000;

std::vector<std::string> unclaimed_pairs(int devices) {
    std::vector<std::string> pairs;
    for (int from = 0; from < devices; ++from) {
        for (int to = 0; to < devices; ++to) {
            if (from != to && !wall::claims_peer_access(from, to))
                pairs.push_back("GPU " + std::to_string(from) + " to " + std::to_string(to));
        }
    }
    return pairs;
}

/// What the engine's own preflight says, which also decides whether ringscope run uses it.
std::string refusal_of(int devices) {
    std::string reason;
    bootstrap::run_as_threads(devices, [&](bootstrap::Bootstrap& bootstrap) {
        engine::host::HostEngine host{bootstrap, {.wait_ns = wait_ns, .oversubscribed = true}};
        CudaEngine engine{bootstrap, host.control(), {.wait_ns = wait_ns, .oversubscribed = true}};
        const engine::cuda::Refusal& refusal = engine.refusal(GpuEngine::p2p);
        if (bootstrap.rank() == 0) reason = refusal.reason;
        bootstrap.barrier();
        engine.close();
    });
    return reason;
}

}  // namespace

std::optional<PairTest> test_pairs() {
    PairTest test;
    test.gpus = wall::device_count(test.inconclusive);
    if (test.gpus < 2) return std::nullopt;
    try {
        test.unclaimed = unclaimed_pairs(test.gpus);
        if (test.unclaimed.empty()) test.fault = refusal_of(test.gpus);
    } catch (const Error& e) {
        test.inconclusive = e.what();
    }
    return test;
}

}  // namespace ringscope::doctor
