// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/sources.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>
#include <sstream>

namespace ringscope::health {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 65536;

fs::path below(const fs::path& root, std::string_view path) {
    return root / fs::path{path}.relative_path();
}

/// By the system's calls: a stream costs more than the read itself, and these files are read between cases.
Text read_file(const fs::path& file) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return std::nullopt;
    std::string text;
    std::array<char, 4096> buffer{};
    while (text.size() < most_bytes) {
        const ssize_t got = read(descriptor, buffer.data(), buffer.size());
        if (got <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    close(descriptor);
    return text.empty() ? std::nullopt : Text{std::move(text)};
}

/// The first line that `fits` takes, or the last.
Text line_where(
    const Sources& sources, std::string_view path, bool last,
    const std::function<bool(const std::string&)>& fits
) {
    const Text text = read_file(place_of(sources, path));
    if (!text) return std::nullopt;
    std::istringstream stream{*text};
    Text found;
    for (std::string line; (last || !found) && std::getline(stream, line);) {
        if (fits(line)) found = line;
    }
    if (found && sources.recording) sources.recording->keep_line(path, *found);
    return found;
}

void add_names(const fs::path& folder, std::set<std::string>& names) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator{folder, ignored})
        names.insert(entry.path().filename().string());
}

}  // namespace

fs::path place_of(const Sources& sources, std::string_view path) {
    if (sources.overlay.empty()) return below(sources.root, path);
    const fs::path over = below(sources.overlay, path);
    std::error_code ignored;
    return fs::exists(over, ignored) ? over : below(sources.root, path);
}

Text whole(const Sources& sources, std::string_view path) {
    Text text = read_file(place_of(sources, path));
    if (text && sources.recording) sources.recording->keep(path, *text);
    return text;
}

Text first_line(const Sources& sources, std::string_view path) {
    const Text text = whole(sources, path);
    return text ? Text{trimmed(std::string_view{*text}.substr(0, text->find('\n')))} : std::nullopt;
}

Text line_beginning(const Sources& sources, std::string_view path, std::string_view beginning) {
    return line_where(sources, path, false, [&](const std::string& line) {
        return line.starts_with(beginning);
    });
}

Text last_line_with(const Sources& sources, std::string_view path, std::string_view part) {
    return line_where(sources, path, true, [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

std::vector<std::string> names_in(const Sources& sources, std::string_view path) {
    std::set<std::string> names;
    add_names(below(sources.root, path), names);
    if (!sources.overlay.empty()) add_names(below(sources.overlay, path), names);
    for (const std::string& name : names) {
        if (sources.recording) sources.recording->keep_name(std::string{path} + "/" + name);
    }
    return {names.begin(), names.end()};
}

fs::path link_target(const Sources& sources, std::string_view path) {
    std::error_code error;
    fs::path target = fs::read_symlink(below(sources.root, path), error);
    if (error) return {};
    if (sources.recording) sources.recording->keep_link(path, target);
    return target;
}

std::int64_t number_in(const Text& text) {
    if (!text) return -1;
    std::int64_t number = -1;
    const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    return error == std::errc{} ? number : -1;
}

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return std::string{text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1)};
}

}  // namespace ringscope::health
