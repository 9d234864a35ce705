// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringscope::engine::cuda {

/// What one rank's GPU found with a peer's. The first two are about what the peer wrote here, the last about
/// what was written there.
enum class PairFinding : std::int8_t {
    fine,
    silent,      ///< nothing arrived
    wrong_data,  ///< something else arrived
    wrong_read   ///< what was written there is not read back
};

/// A test of the preflight: what becomes of what one rank's GPU writes to another's.
struct PeerLie {
    enum class Kind : std::int8_t {
        none,
        dropped,    ///< it never arrives
        misplaced,  ///< it lands 128 bytes further
        altered     ///< other data arrive
    };
    static constexpr int every = -1;

    Kind kind = Kind::none;
    int src = every, dst = every;

    [[nodiscard]] bool concerns(int from, int to) const {
        return kind != Kind::none && (src == every || src == from) && (dst == every || dst == to);
    }
};

/// The ordered pairs that do not work and how, of findings[rank][peer]; "" where all do. Where the owner says
/// what arrived, what the writer reads back of it is the same fault and not said again.
[[nodiscard]] std::string verdict(const std::vector<std::vector<PairFinding>>& findings);

}  // namespace ringscope::engine::cuda
