// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/catalogue.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.hpp"
#include "engine/host/engine.hpp"

namespace ringscope::engine {
namespace {

using cuda::CudaEngine;
using host::HostEngine;

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;

/// A kernel's reads of the host's memory reach about three quarters of what a copy engine does; from here on
/// that costs more than what copies cost beside the bytes.
constexpr std::int64_t least_for_copy_engines = 32 * MiB;

bool has_ll_and_simple(Protocol protocol) {
    return protocol == Protocol::ll || protocol == Protocol::simple;
}

bool has_simple(Protocol protocol) {
    return protocol == Protocol::simple;
}

/// The host is in the loop of every part, so that more than one of them per op only costs.
schedule::LinkFormat whole_slices(Protocol) {
    return {
        .protocol = Protocol::simple, .line_bytes = 1, .line_payload_bytes = 1, .min_parts = 1, .parts = 1};
}

/// Longer parts where each ends with a fence behind stores that go past the caches.
Defaults host_defaults(const Sizing& s) {
    const bool is_long = s.protocol == Protocol::simple && s.chunk_bytes > 8 * MiB;
    return {
        .channels = 1,
        .slots = 8,
        .slot_bytes = is_long ? 256 * KiB : 64 * KiB,
        .direct = schedule::Direct::all};
}

Defaults p2p_defaults(const Sizing& s) {
    return CudaEngine::defaults(s.protocol, s.chunk_bytes, s.most_channels);
}

Defaults copy_engine_defaults(const Sizing& s) {
    const std::int64_t slot = s.chunk_bytes / 8 / (4 * KiB) * (4 * KiB);
    return {.channels = 1, .slots = 8, .slot_bytes = std::clamp(slot, 256 * KiB, 8 * MiB)};
}

/// Few channels: their polls and stores share one link to the host, which a few blocks fill.
Defaults staged_defaults(const Sizing& s) {
    if (s.copy_engines) return copy_engine_defaults(s);
    const std::int64_t wanted = s.chunk_bytes / (s.protocol == Protocol::ll ? 2 * KiB : 8 * KiB);
    const std::int64_t channels =
        std::clamp<std::int64_t>(wanted, 1, std::min<std::int32_t>(s.most_channels, 32));
    return {
        .channels = static_cast<std::int32_t>(channels),
        .slots = 8,
        .slot_bytes = s.protocol == Protocol::ll ? 32 * KiB : 64 * KiB};
}

/// A part costs the host about 25 us, whatever its size, and nothing of it is hidden behind another.
Defaults host_driven_defaults(const Sizing& s) {
    const std::int64_t whole = (s.chunk_bytes + 4 * KiB) / (4 * KiB) * (4 * KiB);
    return {.channels = 1, .slots = 4, .slot_bytes = std::clamp(whole, 64 * KiB, 32 * MiB)};
}

constexpr auto staged = cuda::GpuEngine::staged, host_driven = cuda::GpuEngine::host_driven;

const std::array<Engine, 4> all{
    Engine{HostEngine::name, std::nullopt, &HostEngine::has, &HostEngine::format, &host_defaults},
    Engine{
        name_of(cuda::GpuEngine::p2p), cuda::GpuEngine::p2p, &CudaEngine::has, &CudaEngine::format,
        &p2p_defaults},
    Engine{name_of(staged), staged, &has_ll_and_simple, &CudaEngine::format, &staged_defaults},
    Engine{name_of(host_driven), host_driven, &has_simple, &whole_slices, &host_driven_defaults}};

}  // namespace

std::span<const Engine> engines() {
    return all;
}

const Engine* find_engine(std::string_view name) {
    const auto found = std::ranges::find_if(all, [&](const Engine& engine) { return name == engine.name; });
    return found == all.end() ? nullptr : &*found;
}

schedule::LinkFormat format_on(const Engine& engine, Protocol protocol) {
    if (engine.has(protocol)) return engine.format(protocol);
    throw Error{
        ExitCode::unusable_engine,
        "engine " + std::string{engine.name} + " does not have protocol " + std::string{name_of(protocol)}};
}

bool by_copy_engines(std::int64_t parameter, Protocol protocol, Mode mode, std::int64_t bytes) {
    if (parameter >= 0) return parameter > 0;
    return protocol == Protocol::simple && mode != Mode::graph && bytes >= least_for_copy_engines;
}

}  // namespace ringscope::engine
