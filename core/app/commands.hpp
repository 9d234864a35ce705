// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "baseline/nccl.hpp"
#include "config/parse.hpp"
#include "engine/catalogue.hpp"
#include "options/options.hpp"
#include "plugin/registry.hpp"
#include "ringscope/abi.h"

/// The sub-commands of the program. Each throws Error for what ends it; run() ends the process itself where
/// MPI no longer can.
namespace ringscope::app {

/// Names that an experiment may use whatever this build and this machine have: what cannot run says why.
inline constexpr const char* nccl_id = baseline::Nccl::id;

/// The command line as it was typed, for the record.
using Arguments = std::vector<std::string>;

[[nodiscard]] ExitCode run(const options::Options& options, const Arguments& arguments);
[[nodiscard]] ExitCode conform(const options::Options& options);
[[nodiscard]] ExitCode convert(const options::Options& options);
[[nodiscard]] ExitCode doctor(const options::Options& options);
[[nodiscard]] ExitCode list(const options::Options& options);
[[nodiscard]] ExitCode describe(const options::Options& options);
[[nodiscard]] ExitCode validate(const options::Options& options);

/// The plugins of --plugin-path, of RINGSCOPE_PLUGIN_PATH, and those that come with the program.
[[nodiscard]] plugin::PluginRegistry find_plugins(const options::Options& options);
/// The protocols that an algorithm can be played with, by name.
[[nodiscard]] std::vector<std::string> protocols_of(const ringscope_algorithm& algorithm);
/// What an experiment may name here.
[[nodiscard]] Vocabulary vocabulary(const plugin::PluginRegistry& registry);

}  // namespace ringscope::app
