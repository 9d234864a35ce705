// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/sources.hpp"

#include <fstream>

namespace ringscope::environment {
namespace {

Text value_in(std::string_view line, std::string_view key, char separator) {
    if (!line.starts_with(key)) return std::nullopt;
    std::string_view rest = line.substr(key.size());
    if (separator != ' ') rest = trimmed(rest, " \t");
    if (!rest.starts_with(separator)) return std::nullopt;
    return std::string{trimmed(rest.substr(1), " \t\"")};
}

}  // namespace

std::filesystem::path below(const std::filesystem::path& root, std::string_view path) {
    return root / std::filesystem::path{path}.relative_path();
}

Text first_line(const std::filesystem::path& file) {
    std::ifstream stream{file};
    std::string line;
    if (!std::getline(stream, line)) return std::nullopt;
    return std::string{trimmed(line, " \t")};
}

Text value_of(const std::filesystem::path& file, std::string_view key, char separator) {
    std::ifstream stream{file};
    for (std::string line; std::getline(stream, line);) {
        if (Text value = value_in(line, key, separator)) return value;
    }
    return std::nullopt;
}

std::string_view trimmed(std::string_view text, std::string_view cut) {
    const std::size_t first = text.find_first_not_of(cut);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(cut) - first + 1);
}

}  // namespace ringscope::environment
