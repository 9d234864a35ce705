// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "health/recording.hpp"

/// What a GPU's way to the host is like now, read from the kernel's files and from NVML. Nothing here is kept
/// between calls but what the machine itself keeps, and what cannot be read is not known: no error.
namespace ringscope::health {

/// Where facts are read. Tests and recordings put another root in place of the machine's.
struct Sources {
    std::filesystem::path root = "/";
    std::filesystem::path overlay{};  ///< what lies here is read in place of the root's; empty: nothing does
    Recording* recording = nullptr;   ///< keeps what is read

    /// Whether the machine itself is read: then NVML and system calls can be asked too.
    [[nodiscard]] bool is_machine() const { return root == "/"; }
};

using Text = std::optional<std::string>;

/// Paths are those of the machine: "/proc/meminfo".
[[nodiscard]] std::filesystem::path place_of(const Sources& sources, std::string_view path);

/// The file as it is, up to 64 KiB; nothing where it is missing, cannot be read or is empty.
[[nodiscard]] Text whole(const Sources& sources, std::string_view path);
/// Without blanks at its ends.
[[nodiscard]] Text first_line(const Sources& sources, std::string_view path);
/// The first line that begins with this, as it is.
[[nodiscard]] Text line_beginning(const Sources& sources, std::string_view path, std::string_view beginning);
/// The last line that holds this, as it is.
[[nodiscard]] Text last_line_with(const Sources& sources, std::string_view path, std::string_view part);
/// Names of a folder's entries, in order; none where there is no such folder.
[[nodiscard]] std::vector<std::string> names_in(const Sources& sources, std::string_view path);
/// Where a link leads to, in its own words; empty where there is no link.
[[nodiscard]] std::filesystem::path link_target(const Sources& sources, std::string_view path);

/// The whole number at the beginning of a text; -1 where there is none.
[[nodiscard]] std::int64_t number_in(const Text& text);
[[nodiscard]] std::string trimmed(std::string_view text);

}  // namespace ringscope::health
