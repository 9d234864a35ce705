// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/throttling.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "environment/sources.hpp"
#include "health/cgroup.hpp"

namespace ringscope::environment {
namespace {

/// The number behind a key in lines such as "throttled_usec 42"; -1 where it is not there.
std::int64_t number_of(const health::Text& text, const std::string& key) {
    std::istringstream lines{text.value_or("")};
    std::int64_t number = 0;
    for (std::string word; lines >> word >> number;) {
        if (word == key) return number;
    }
    return -1;
}

/// Version 2 counts microseconds, version 1 nanoseconds.
std::int64_t throttled_ns(const health::Sources& sources) {
    const std::int64_t us = number_of(health::cgroup_file(sources, "", "cpu.stat"), "throttled_usec");
    if (us >= 0) return us * 1000;
    return number_of(health::cgroup_file(sources, "cpu", "cpu.stat"), "throttled_time");
}

/// core_throttle_count and package_throttle_count of every processor.
std::vector<std::string> thermal_counters(const health::Sources& sources) {
    const std::string folder = "/sys/devices/system/cpu";
    std::vector<std::string> counters;
    for (const std::string& cpu : health::names_in(sources, folder)) {
        if (!cpu.starts_with("cpu")) continue;
        const std::string place = folder + "/" + cpu + "/thermal_throttle";
        for (const std::string& name : health::names_in(sources, place))
            if (name.ends_with("_count")) counters.push_back(place + "/" + name);
    }
    return counters;
}

}  // namespace

ThrottlingReader::ThrottlingReader(health::Sources sources)
    : sources_{std::move(sources)}, counters_{thermal_counters(sources_)} {}

Throttling ThrottlingReader::read() const {
    Throttling found{.throttled_ns = throttled_ns(sources_)};
    for (const std::string& counter : counters_) {
        const std::int64_t events = health::number_in(first_line(below(sources_.root, counter)));
        if (events >= 0) found.thermal_events = std::max<std::int64_t>(0, found.thermal_events) + events;
    }
    return found;
}

}  // namespace ringscope::environment
