// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "engine/cuda/engine.hpp"

// What engine cuda-p2p is, in numbers; known in builds without CUDA too, so that `describe` and plans are.
namespace ringscope::engine::cuda {
namespace {

/// Lines of 16 bytes with 8 of payload.
constexpr schedule::LinkFormat low_latency{
    .protocol = Protocol::ll, .line_bytes = 16, .line_payload_bytes = 8, .min_parts = 1, .parts = 1};
constexpr schedule::LinkFormat simple{
    .protocol = Protocol::simple, .line_bytes = 1, .line_payload_bytes = 1, .min_parts = 2, .parts = 2};

/// Channels by what is left of the message for each: about 2 KiB of a chunk keep the lanes of LL busy.
std::int32_t low_latency_channels(std::int64_t chunk) {
    constexpr std::int64_t channel_bytes = 1024;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(chunk / channel_bytes, 1, 32));
}

std::int32_t simple_channels(std::int64_t bytes) {
    if (bytes < (64 << 10)) return 1;
    if (bytes < (512 << 10)) return 8;
    return bytes < (4 << 20) ? 24 : 64;
}

}  // namespace

bool CudaEngine::has(Protocol protocol) {
    return protocol == Protocol::ll || protocol == Protocol::simple;
}

schedule::LinkFormat CudaEngine::format(Protocol protocol) {
    if (protocol == Protocol::ll) return low_latency;
    if (protocol == Protocol::simple) return simple;
    throw Error{
        ExitCode::unusable_engine,
        "engine cuda-p2p does not have protocol " + std::string{name_of(protocol)}};
}

Defaults CudaEngine::defaults(Protocol protocol, std::int32_t ranks, std::int64_t bytes) {
    if (protocol == Protocol::ll)
        return {.channels = low_latency_channels(bytes / ranks), .slots = 8, .slot_bytes = 64 << 10};
    return {.channels = simple_channels(bytes), .slots = 8, .slot_bytes = 512 << 10};
}

}  // namespace ringscope::engine::cuda
