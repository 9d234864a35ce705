// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/parse.hpp"

namespace ringscope {

inline Vocabulary vocabulary() {
    return {
        {"ring-ll", "ring-simple", "servers", "mpi", "nccl"},
        {"auto", "host-shm", "cuda-p2p", "cuda-staged", "cuda-host-driven"},
        {{"servers", {{{"count", 1, 64}, {"dedicated", 0, 1}}, {"ll", "simple"}}}}};
}

/// The message of the fault of a text called x.yaml; "no error" where it is accepted.
inline std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        static_cast<void>(parse_experiment(text, "x.yaml", vocabulary(), overrides));
    } catch (const Error& error) {
        return error.code() == ExitCode::usage ? error.what() : std::string{"wrong code: "} + error.what();
    }
    return "no error";
}

inline Experiment parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return parse_experiment(text, "x.yaml", vocabulary(), overrides);
}

/// A sweep section of one line after the version, so that columns are easy to count.
inline std::string with_sweep(const std::string& entry) {
    return "version: 1\nsweep:\n  " + entry + "\n";
}

}  // namespace ringscope
