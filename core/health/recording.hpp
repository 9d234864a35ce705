// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringscope::health {

/// Keeps what was read of the machine in a folder that stands for its root, so that the same can be read
/// again elsewhere. Holds no more of a file than what was asked of it. Throws Error{output} where the folder
/// cannot be written.
class Recording {
 public:
    explicit Recording(std::filesystem::path folder) : folder_{std::move(folder)} {}

    /// The whole of a file; replaces what was kept of it.
    void keep(std::string_view path, std::string_view text);
    /// One line more of a file, unless it is there already.
    void keep_line(std::string_view path, const std::string& line);
    /// That a folder has an entry of this name.
    void keep_name(std::string_view path);
    void keep_link(std::string_view path, const std::filesystem::path& target);

 private:
    [[nodiscard]] std::filesystem::path make_place(std::string_view path) const;

    std::filesystem::path folder_;
    std::map<std::string, std::vector<std::string>, std::less<>> lines_;
};

}  // namespace ringscope::health
