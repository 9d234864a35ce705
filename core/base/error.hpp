// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <stdexcept>
#include <string>

namespace ringscope {

/// The program's exit codes; part of the contract with scripts. All are below 100, so mpirun hands them
/// through.
enum class ExitCode : int {
    ok = 0,
    found_harm = 1,       ///< of the command doctor only: something on this machine will hurt
    usage = 2,            ///< configuration, usage, placement, plugin missing or of another ABI
    wrong_result = 3,     ///< data or traffic not as they must be
    timeout = 4,          ///< a wait or a case passed its deadline
    out_of_memory = 5,    ///< shared memory or memory
    unusable_engine = 6,  ///< peer access or engine unusable
    output = 7,           ///< output, disk, trace incomplete
    internal = 8,         ///< a fault in the program, a plugin that threw
    skipped = 77,         ///< everything skipped: the hardware is not present
};

/// All of them, the worst first: 8, 3, 4, 7, 6, 5, 2, 77, 1, 0.
inline constexpr std::array exit_codes{ExitCode::internal, ExitCode::wrong_result,    ExitCode::timeout,
                                       ExitCode::output,   ExitCode::unusable_engine, ExitCode::out_of_memory,
                                       ExitCode::usage,    ExitCode::skipped,         ExitCode::found_harm,
                                       ExitCode::ok};

/// The worse of two codes, in that order.
[[nodiscard]] ExitCode worst(ExitCode a, ExitCode b) noexcept;

/// What ends a run: a message for people (what happened, where, what to do) and the exit code that tells it
/// to scripts.
class Error : public std::runtime_error {
 public:
    Error(ExitCode code, const std::string& message) : std::runtime_error{message}, code_{code} {}
    [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
    ExitCode code_;
};

}  // namespace ringscope
