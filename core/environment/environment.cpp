// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <system_error>

#include "base/error.hpp"
#include "environment/cpu_list.hpp"
#include "environment/sources.hpp"

namespace ringscope::environment {
namespace {

bool holds(const std::filesystem::path& node, const std::vector<int>& cpus) {
    const Text list = first_line(node / "cpulist");
    if (!list) return false;
    try {
        return std::ranges::includes(parse_cpu_list(*list), cpus);
    } catch (const Error&) {
        return false;  // an odd line of the kernel must not end a run
    }
}

int node_number(const std::filesystem::path& node) {
    const std::string digits = node.filename().string().substr(4);
    const bool number = !digits.empty() && digits.size() < 6 && std::ranges::all_of(digits, [](char letter) {
        return letter >= '0' && letter <= '9';
    });
    return number ? std::stoi(digits) : -1;
}

/// The NUMA node that holds all the CPUs; -1 when they lie on several, or the machine does not tell.
std::int32_t numa_node_of(const std::vector<int>& cpus, const std::filesystem::path& root) {
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator{below(root, "/sys/devices/system/node"), ignored}) {
        const bool node = entry.path().filename().string().starts_with("node");
        if (node && holds(entry.path(), cpus)) return node_number(entry.path());
    }
    return -1;
}

std::string hex(std::uint32_t value, int digits) {
    constexpr std::string_view letters = "0123456789abcdef";
    std::string text;
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += letters[(value >> shift) & 15u];
    return text;
}

}  // namespace

std::vector<std::string> current_variables() {
    std::vector<std::string> variables;
    for (char** variable = environ; variable && *variable; ++variable) variables.emplace_back(*variable);
    return variables;
}

trace::RankEnvironment capture_rank(std::int32_t rank, const Sources& sources) {
    const auto text = [&](std::string_view path) {
        return first_line(below(sources.root, path)).value_or(std::string{unavailable});
    };
    const std::vector<int> cpus = allowed_cpu_list();
    trace::RankEnvironment environment;
    environment.rank = rank;
    environment.host = text("/proc/sys/kernel/hostname");
    environment.boot_id = text("/proc/sys/kernel/random/boot_id");
    environment.pid = getpid();
    environment.cpuset = format_cpu_list(cpus);
    environment.numa_node = numa_node_of(cpus, sources.root);
    return environment;
}

std::string run_uuid() {
    std::random_device device;
    std::array<std::uint32_t, 4> words{};
    std::ranges::generate(words, [&] { return static_cast<std::uint32_t>(device()); });
    words[1] = (words[1] & 0xffff0fffu) | 0x00004000u;  // version 4
    words[2] = (words[2] & 0x3fffffffu) | 0x80000000u;  // variant of RFC 4122
    return hex(words[0], 8) + "-" + hex(words[1] >> 16, 4) + "-" + hex(words[1], 4) + "-" +
           hex(words[2] >> 16, 4) + "-" + hex(words[2], 4) + hex(words[3], 8);
}

std::string iso8601_now() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return {text.data(), length};
}

}  // namespace ringscope::environment
