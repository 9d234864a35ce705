// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "parameter_server_law.hpp"
#include "ringscope/overlap.hpp"
#include "ringscope/plugin.hpp"

namespace {

using namespace ringscope;

enum Option { servers, dedicated };

constexpr ringscope_option options[] = {
    {"servers", "ranks that sum, each a part of the message", 1, 1, 64},
    {"dedicated", "1: servers only serve, they neither contribute nor receive", 0, 0, 1},
};

/// Ranks that contribute and receive, in order, but for the own one.
std::vector<std::int32_t> other_workers(const Player& p) {
    std::vector<std::int32_t> workers;
    const auto first = static_cast<int>(p.option(dedicated) != 0 ? p.option(servers) : 0);
    for (int rank = first; rank < p.ranks(); ++rank) {
        if (rank != p.rank()) workers.push_back(rank);
    }
    return workers;
}

/// Servers are the first ranks, server s sums chunk s in the order of ranks. A worker counts servers from its
/// own rank on, so that not all workers send to the same one first.
void parameter_server(Player& p) {
    const auto count = static_cast<int>(p.option(servers));
    const bool serves = p.rank() < count, works = !serves || p.option(dedicated) == 0;
    const std::vector<std::int32_t> workers = other_workers(p);
    const auto for_each_server = [&](auto visit) {
        for (int i = 0; works && i < count; ++i) {
            const int server = (p.rank() + i) % count;
            if (server != p.rank()) visit(server);
        }
    };
    const auto push = [&] {
        p.phase(Phase::reduce);
        for_each_server([&](int server) { p.send(server, chunk(server)); });
    };
    const auto reduce = [&] {
        p.phase(Phase::broadcast);
        if (!serves) return;
        p.op(
            {.recv = workers,
             .send = workers,
             .local = works ? Local::input : Local::none,
             .local_at = works ? p.rank() : 0,
             .store = works,
             .finish = true,
             .chunks = chunk(p.rank())}
        );
    };
    const auto pull = [&] { for_each_server([&](int server) { p.recv(server, chunk(server)); }); };
    overlap_slices(p, push, reduce, pull);
}

/// A chunk per server. None where there is no rank for a server, or none left to work.
int one_chunk_per_server(const ringscope_place* place) {
    const auto count = static_cast<int>(place->options[servers]);
    const int most = place->ranks - (place->options[dedicated] != 0 ? 1 : 0);
    return count <= most ? count : 0;
}

std::int32_t takes_part(const ringscope_place* place) {
    return place->options[dedicated] == 0 || place->rank >= place->options[servers] ? 1 : 0;
}

}  // namespace

RINGSCOPE_PLUGIN(
    "parameter-server", "1.0",
    ringscope::algorithm<parameter_server, one_chunk_per_server>(
        "parameter-server", "all send to rank 0, which sums and sends back: it carries (N-1)M",
        RINGSCOPE_SIMPLE, parameter_server_law, {.options = options, .takes_part = takes_part}
    )
);
