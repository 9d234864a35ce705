// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "parameter_server_law.hpp"

#include "ringscope/law.hpp"

/// Servers are the ranks below S; server s owns shard s, of L[s] bytes. It gets its shard from every other
/// worker and sends it, summed, to every other worker. With one server among the workers that is (N-1)M in
/// and out of rank 0 and M in and out of every other; with N of them it is two-shot.
std::int64_t parameter_server_law(
    const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst
) {
    const std::int64_t servers = place->options[0];
    const bool dedicated = place->options[1] != 0;
    const auto shard = [&](std::int32_t server, std::int32_t worker) -> std::int64_t {
        if (server >= servers || (dedicated && worker < servers)) return 0;
        return ringscope::law::chunk_bytes(bytes, servers, server);
    };
    return shard(dst, src) + shard(src, dst);
}
