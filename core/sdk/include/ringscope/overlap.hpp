// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "ringscope/player.hpp"

/// For plugin authors: pipelining of schedules that scatter, reduce and gather.
namespace ringscope {

/// Plays scatter(), reduce() and gather() of every slice: the scatter some slices ahead of the reduction, the
/// gather as many behind it, so that neither direction of a link stands still while a slice makes its way to
/// its owner and back. A link then carries scatters 0 .. d, gather 0, scatter d+1, gather 1, ..., and is read
/// in this order. Twice the lead and the message that is being made must fit into a connection.
template <class Scatter, class Reduce, class Gather>
void overlap_slices(Player& p, Scatter scatter, Reduce reduce, Gather gather) {
    const std::int64_t lead = std::max<std::int64_t>(0, (p.in_flight() - 2) / 2), slices = p.slices();
    const auto play = [&](std::int64_t slice, auto stage) {
        if (slice < 0 || slice >= slices) return;
        p.slice(slice);
        stage();
    };
    for (std::int64_t k = -lead; k < slices + lead; ++k) {
        play(k + lead, scatter);
        play(k, reduce);
        play(k - lead, gather);
    }
}

}  // namespace ringscope
