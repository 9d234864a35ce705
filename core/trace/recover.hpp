// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringscope::trace {

/// What was made of the spills of a run, and what is not in them.
struct Recovered {
    std::string path;  ///< of the file
    std::int64_t spills = 0, cases = 0, samples = 0, events = 0;
    std::vector<std::int32_t> unfinished;  ///< cases
    std::vector<std::int32_t> silent;      ///< ranks that left nothing of the unfinished cases
    std::vector<std::string> damaged;      ///< "132 bytes at the end of x.h5.spill"
};

/// Makes one trace file (complete = 1, recovered = 1) of the log of a run and of what its ranks put aside. An
/// unfinished case gets the rows that there are, status `failed` unless the log knows better, and counts what
/// is missing as dropped. Without `output` the file has the name of the log without its `.spill`.
///
/// Throws Error (output) where the spills are none, damaged from the beginning, of different runs or of one
/// that still lasts, where the log is not among them, and where the file cannot be written.
[[nodiscard]] Recovered recover(const std::vector<std::string>& spills, std::string output, bool force);

}  // namespace ringscope::trace
