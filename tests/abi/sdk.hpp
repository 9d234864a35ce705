// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ringscope/plugin.hpp"  // first, so that it stands on its own

/// A schedule that uses every shorthand of the SDK, to be compiled wherever the SDK must compile.
namespace ringscope::sdk_check {

inline void every_shorthand(Player& p) {
    const int other = p.wrap(p.rank() + 1);
    p.slice(0);
    p.phase(Phase::reduce);
    p.send(other, chunk(0));
    p.recv(other, chunk(0));
    p.recv_copy_send(other, other, chunk(0));
    p.recv_reduce_send(std::vector<std::int32_t>{other}, other, Chunks{0, 1});
    p.recv_reduce_copy_send(other, other, chunk(0));
    p.op({.recv = other, .local = Local::output, .store = true, .chunks = chunk(0)});
}

inline int one_chunk(int) {
    return 1;
}

inline constexpr ringscope_algorithm checked =
    algorithm<every_shorthand, one_chunk>("sdk-check", "compiles", RINGSCOPE_SIMPLE);

}  // namespace ringscope::sdk_check
