// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/throttling.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "environment/cgroup.hpp"
#include "environment/sources.hpp"

namespace ringscope::environment {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> number_of(const Text& text) {
    std::int64_t number = 0;
    if (!text) return std::nullopt;
    const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
    return read.ec == std::errc{} ? std::optional{number} : std::nullopt;
}

void add(std::int64_t& sum, const std::optional<std::int64_t>& more) {
    if (more) sum = std::max<std::int64_t>(0, sum) + *more;
}

/// Version 2 counts microseconds, version 1 nanoseconds.
std::optional<std::int64_t> throttled_ns(const fs::path& file) {
    if (const auto us = number_of(value_of(file, "throttled_usec", ' '))) return *us * 1000;
    return number_of(value_of(file, "throttled_time", ' '));
}

/// core_throttle_count and package_throttle_count of every processor.
std::vector<fs::path> thermal_counters(const fs::path& root) {
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const auto& cpu : fs::directory_iterator{below(root, "/sys/devices/system/cpu"), ignored}) {
        if (!cpu.path().filename().string().starts_with("cpu")) continue;
        for (const auto& entry : fs::directory_iterator{cpu.path() / "thermal_throttle", ignored}) {
            if (entry.path().filename().string().ends_with("_count")) files.push_back(entry.path());
        }
    }
    return files;
}

}  // namespace

ThrottlingReader::ThrottlingReader(const Sources& sources)
    : quotas_{cgroup_files(sources.root, "", "cpu.stat")}, counters_{thermal_counters(sources.root)} {
    std::ranges::copy(cgroup_files(sources.root, "cpu", "cpu.stat"), std::back_inserter(quotas_));
}

Throttling ThrottlingReader::read() const {
    Throttling found;
    for (const fs::path& file : quotas_) add(found.throttled_ns, throttled_ns(file));
    for (const fs::path& file : counters_) add(found.thermal_events, number_of(first_line(file)));
    return found;
}

}  // namespace ringscope::environment
