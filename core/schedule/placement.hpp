// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "schedule/program.hpp"

namespace ringscope::schedule {

/// Says of every message of one channel where its bytes may lie (Message::place, at both ends), as far as
/// `direct` goes.
///
/// A piece of a rank's buffers makes a round trip where one op reads the rank's input and sends what it makes
/// of it to one peer, one op stores to the output, and what that stores is a complete result as it was
/// received. That result holds the rank's contribution, so once a byte of it exists the contribution was
/// read, by the only one who reads it. Therefore
///
/// - the result may be written to the output by its sender: the rank has entered the operation, and needs
///   neither the old output nor, in place, the input that it overwrites;
/// - a contribution that is sent as it is may be read where it lies: when the result is there, nobody reads
/// it
///   any more, and the operation may return.
///
/// The programs must be an all-reduce (`disprove`) and fit together.
void place_messages(
    std::span<Program> programs, std::int32_t chunks, std::int64_t slices, Direct direct = Direct::all
);

}  // namespace ringscope::schedule
