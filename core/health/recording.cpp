// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/recording.hpp"

#include <algorithm>
#include <fstream>

#include "base/error.hpp"

namespace ringscope::health {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw Error{
        ExitCode::output, "cannot write " + path.string() + ": " + why + ": give --record a folder of yours"};
}

}  // namespace

fs::path Recording::make_place(std::string_view path) const {
    const fs::path place = folder_ / fs::path{path}.relative_path();
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    if (error) refuse(place.parent_path(), error.message());
    return place;
}

void Recording::keep(std::string_view path, std::string_view text) {
    const fs::path place = make_place(path);
    std::ofstream stream{place, std::ios::binary};
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!stream.flush()) refuse(place, "the file takes no data");
}

void Recording::keep_line(std::string_view path, const std::string& line) {
    std::vector<std::string>& lines = lines_[std::string{path}];
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
    std::string text;
    for (const std::string& one : lines) text += one + "\n";
    keep(path, text);
}

void Recording::keep_name(std::string_view path) {
    const fs::path place = make_place(path);
    std::error_code error;
    if (!fs::exists(fs::symlink_status(place))) fs::create_directory(place, error);
    if (error) refuse(place, error.message());
}

void Recording::keep_link(std::string_view path, const fs::path& target) {
    const fs::path place = make_place(path);
    if (fs::is_symlink(fs::symlink_status(place))) return;
    std::error_code error;
    fs::remove(place, error);
    if (!error) fs::create_directories(place.parent_path() / target, error);
    if (!error) fs::create_symlink(target, place, error);
    if (error) refuse(place, error.message());
}

}  // namespace ringscope::health
