// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ringscope::environment {

/// A folder that stands for "/", removed at the end.
class FakeRoot {
 public:
    FakeRoot() {
        std::string name = (std::filesystem::temp_directory_path() / "ringscope-root-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    FakeRoot(const FakeRoot&) = delete;
    FakeRoot& operator=(const FakeRoot&) = delete;
    ~FakeRoot() { std::filesystem::remove_all(path_); }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = path_ / std::filesystem::path{path}.relative_path();
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file} << text;
    }

 private:
    std::filesystem::path path_;
};

}  // namespace ringscope::environment
