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
/// Lines of 128 bytes with 120 of payload.
constexpr schedule::LinkFormat low_latency_128{
    .protocol = Protocol::ll128, .line_bytes = 128, .line_payload_bytes = 120, .min_parts = 1, .parts = 1};
constexpr schedule::LinkFormat simple{
    .protocol = Protocol::simple, .line_bytes = 1, .line_payload_bytes = 1, .min_parts = 2, .parts = 2};

// By measurement on two GPUs over NVLink; docs/performance-notes.md has the table.

/// Below 1 KiB of a chunk another channel costs more than its lanes bring.
std::int32_t low_latency_channels(std::int64_t chunk) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(chunk >> 10, 1, 64));
}

/// As LL up to 32 channels, and from 8 KiB for each of them on more.
std::int32_t low_latency_128_channels(std::int64_t chunk) {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::max(std::min<std::int64_t>(chunk >> 10, 32), chunk >> 13), 1, 128)
    );
}

std::int32_t simple_channels(std::int64_t chunk) {
    if (chunk < (16 << 10)) return 1;
    if (chunk < (64 << 10)) return 16;
    if (chunk < (512 << 10)) return 32;
    return chunk < (2 << 20) ? 64 : 128;
}

}  // namespace

bool CudaEngine::has(Protocol protocol) {
    return protocol == Protocol::ll || protocol == Protocol::ll128 || protocol == Protocol::simple;
}

schedule::LinkFormat CudaEngine::format(Protocol protocol) {
    if (protocol == Protocol::ll) return low_latency;
    if (protocol == Protocol::ll128) return low_latency_128;
    if (protocol == Protocol::simple) return simple;
    throw Error{ExitCode::unusable_engine, "engine cuda-p2p does not have this protocol"};
}

Defaults CudaEngine::defaults(Protocol protocol, std::int64_t chunk_bytes, std::int32_t most_channels) {
    if (protocol == Protocol::ll)
        return {
            .channels = std::min(most_channels, low_latency_channels(chunk_bytes)),
            .slots = 16,
            .slot_bytes = 64 << 10};
    if (protocol == Protocol::ll128)
        return {
            .channels = std::min(most_channels, low_latency_128_channels(chunk_bytes)),
            .slots = 16,
            .slot_bytes = 64 << 10};
    return {
        .channels = std::min(most_channels, simple_channels(chunk_bytes)),
        .slots = 8,
        .slot_bytes = 128 << 10};
}

}  // namespace ringscope::engine::cuda
