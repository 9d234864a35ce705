// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/ground.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "engine/cuda/preflight.hpp"

namespace ringscope::engine::cuda {
namespace {

namespace wall = ringscope::cuda;
using Reach = transport::Arena::Reach;

/// `attempt` gives what was found wrong, or throws.
Refusal refusal_by(const std::string& what, const std::function<std::string()>& attempt) {
    try {
        const std::string faults = attempt();
        if (faults.empty()) return {};
        return {ExitCode::unusable_engine, what + ": " + faults};
    } catch (const bootstrap::AgreedError& e) {
        return {e.code(), what + ": " + e.what()};
    }
}

}  // namespace

const Refusal& Ground::refusal(GpuEngine engine) {
    if (engine == GpuEngine::staged) return staged();
    return engine == GpuEngine::p2p || peers().reason.empty() ? peers() : staged();
}

const Refusal& Ground::peers() {
    if (!peers_)
        peers_ = refusal_by("peer access between the GPUs does not work", [&] { return try_peers(); });
    return *peers_;
}

const Refusal& Ground::staged() {
    if (!staged_)
        staged_ = refusal_by("the GPUs do not meet in memory of the host", [&] { return try_staged(); });
    return *staged_;
}

std::string Ground::try_peers() {
    const std::int64_t bytes = preflight_bytes(bootstrap_.size());
    arena_.reserve(bytes, Reach::all_ranks);
    bootstrap::agree(bootstrap_, [&] { clear_arena(bytes); });
    return preflight(bootstrap_, in_arenas(), options_.wait_ns, options_.peer_lie);
}

std::string Ground::try_staged() {
    const std::int64_t bytes = preflight_bytes(bootstrap_.size());
    windows_.reserve(bytes);
    clear_window(bytes);
    return preflight(bootstrap_, in_windows(), options_.wait_ns, PeerLie{});
}

bool Ground::lies_in_arena(GpuEngine engine) {
    return engine == GpuEngine::p2p || (engine == GpuEngine::host_driven && peers().reason.empty());
}

Place Ground::reserve(GpuEngine engine, std::int64_t connections, std::int64_t user) {
    if (connections > 0 && lies_in_arena(engine)) {
        arena_.reserve(connections + user, Reach::all_ranks);
        bootstrap::agree(bootstrap_, [&] { clear_arena(connections); });
        return {in_arenas(), arena_.of(bootstrap_.rank()) + connections};
    }
    arena_.reserve(user, Reach::own_rank);
    std::byte* const buffers = arena_.of(bootstrap_.rank());
    if (connections == 0) return {{}, buffers};
    windows_.reserve(connections);
    clear_window(connections);
    return {in_windows(), buffers};
}

/// Zeroed memory is an empty connection; where messages count as sent before, so do their counters.
void Ground::clear_arena(std::int64_t bytes) {
    const wall::Stream stream;
    std::byte* const own = arena_.of(bootstrap_.rank());
    wall::zero(own, bytes, stream);
    const std::vector<std::uint64_t> numbers(
        options_.first_number == 0 ? 0 : static_cast<std::size_t>(bytes) / 8, options_.first_number
    );
    wall::copy_to_device(own, numbers.data(), std::ssize(numbers) * 8, stream);
    stream.synchronize();
}

void Ground::clear_window(std::int64_t bytes) {
    auto* const own = reinterpret_cast<std::uint64_t*>(windows_.on_host(bootstrap_.rank()));
    std::fill_n(own, bytes / 8, options_.first_number);
}

std::vector<std::byte*> Ground::in_arenas() const {
    std::vector<std::byte*> all;
    for (int rank = 0; rank < bootstrap_.size(); ++rank) all.push_back(arena_.of(rank));
    return all;
}

std::vector<std::byte*> Ground::in_windows() const {
    std::vector<std::byte*> all;
    for (int rank = 0; rank < bootstrap_.size(); ++rank) all.push_back(windows_.on_device(rank));
    return all;
}

std::vector<std::int32_t> Ground::numa_nodes() const {
    std::vector<std::int32_t> nodes;
    if (!staged_) return nodes;
    for (const std::string& node : bootstrap_.all_gather(std::to_string(windows_.numa_node())))
        nodes.push_back(std::stoi(node));
    return nodes;
}

}  // namespace ringscope::engine::cuda
