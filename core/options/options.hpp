// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/parse.hpp"

/// The command line as a plain value. Nothing here starts, reads or prints anything.
namespace ringscope::options {

enum class Command { run, list, describe, validate, conform, convert, doctor, help, version };

struct Options {
    Command command = Command::help;
    std::optional<Command> help_topic;  ///< of `help`: the sub-command asked about

    std::optional<std::string> config;  ///< run, validate
    std::vector<std::string> set;       ///< run: "key.path=value", in the order given
    std::optional<std::string> output;  ///< run, convert
    bool force = false;
    bool json = false;  ///< run, list, describe, validate, conform, doctor
    bool csv = false;
    bool dry_run = false;
    std::optional<int> expect_ranks;
    std::optional<std::string> expect_binding;  ///< run: what every rank must be bound to
    std::string batch_uuid;                     ///< run: the batch that this launch belongs to, or empty
    std::int64_t launch_index = 0;              ///< run: its number in the batch
    std::int64_t seed = 0;                      ///< run: of the order of the batch
    bool allow_shared_gpu = false;              ///< ranks of several processes may share a GPU
    std::optional<int> virtual_ranks;  ///< so many ranks as threads of this one process, for correctness
    Letters letters;                   ///< run without a file; the configuration reads and checks the values

    std::vector<std::string> subjects;  ///< conform: ids of algorithms, files of plugins; convert: spills
    bool full = false;                  ///< conform
    std::string engine = "auto";        ///< conform

    std::string root = "/";             ///< run, doctor: where the machine is read
    std::optional<std::string> record;  ///< doctor: keep there what was read
    bool pair_test = true;              ///< doctor

    std::string algorithm;            ///< describe
    int ranks = 0;                    ///< describe
    std::vector<std::string> params;  ///< describe: name=value, each
    std::string bytes;                ///< describe: a size that parse_bytes() reads

    std::vector<std::string> plugin_path;
    int verbosity = 0;  ///< -1 for -q, one more for every -v
};

/// Reads the arguments behind the program's name. Throws Error{usage} in one line, with the nearest right
/// word.
[[nodiscard]] Options parse_options(std::span<const std::string> args);

/// What --help prints: the overview, or the page of one sub-command.
[[nodiscard]] std::string help_text(std::optional<Command> topic);

/// What --version prints: program and plugin ABI.
[[nodiscard]] std::string version_text();

/// Folders to search for plugins: those of --plugin-path, then those of RINGSCOPE_PLUGIN_PATH (separated by
/// colons).
[[nodiscard]] std::vector<std::string> plugin_path(
    const Options& options, const std::function<const char*(const char*)>& getenv
);

}  // namespace ringscope::options
