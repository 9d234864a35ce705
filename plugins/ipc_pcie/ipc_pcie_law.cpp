// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "ipc_pcie_law.hpp"

#include "ringscope/law.hpp"

using ringscope::law::chunk_bytes;

/// Two ranks exchange the whole message; more exchange the receiver's chunk, to be summed, and the sender's
/// own, summed.
std::int64_t ipc_pcie_law(
    const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst
) {
    if (place->ranks == 2) return bytes;
    return chunk_bytes(bytes, place->ranks, src) + chunk_bytes(bytes, place->ranks, dst);
}

/// Everybody reads what everybody published: the whole message, on every link.
std::int64_t ipc_pcie_naive_law(const ringscope_place*, std::int64_t bytes, std::int32_t, std::int32_t) {
    return bytes;
}
