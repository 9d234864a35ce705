// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Reading the small text files of /proc, /sys and /etc. Nothing here throws: a missing file is an absent
/// value.
namespace ringscope::environment {

using Text = std::optional<std::string>;

/// The path below the root: ("/tmp/fake", "/proc/x") is "/tmp/fake/proc/x".
[[nodiscard]] std::filesystem::path below(const std::filesystem::path& root, std::string_view path);

[[nodiscard]] Text first_line(const std::filesystem::path& file);

/// What follows `key` and the separator in the first line that begins with the key; blanks and quotes around
/// it are cut. ("/proc/cpuinfo", "model name", ':') is the name of the CPU.
[[nodiscard]] Text value_of(const std::filesystem::path& file, std::string_view key, char separator);

[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view cut);

}  // namespace ringscope::environment
