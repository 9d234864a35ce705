// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/cpu_list.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/error.hpp"

namespace ringscope::environment {
namespace {

constexpr int most_cpus = 65536;

[[noreturn]] void refuse(std::string_view text) {
    throw Error{ExitCode::internal, "`" + std::string{text} + "` is no list of CPUs like 0-3,8"};
}

int cpu_number(std::string_view text) {
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || number < 0 || number >= most_cpus) refuse(text);
    return number;
}

void add_range(std::string_view range, std::vector<int>& cpus) {
    const std::size_t dash = range.find('-');
    const int first = cpu_number(range.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : cpu_number(range.substr(dash + 1));
    if (last < first) refuse(range);
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
}

void sort_without_doubles(std::vector<int>& cpus) {
    std::ranges::sort(cpus);
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
}

struct FreeCpuSet {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        add_range(text.substr(0, comma), cpus);
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    sort_without_doubles(cpus);
    return cpus;
}

std::string format_cpu_list(std::span<const int> cpus) {
    std::string text;
    for (std::size_t first = 0; first < cpus.size();) {
        std::size_t last = first;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(cpus[first]);
        if (last > first) text += '-' + std::to_string(cpus[last]);
        first = last + 1;
    }
    return text;
}

// The fixed-size cpu_set_t ends at 1024 CPUs, and the call fails on a larger machine.
std::vector<int> allowed_cpu_list() {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set{CPU_ALLOC(most_cpus)};
    const std::size_t size = CPU_ALLOC_SIZE(most_cpus);
    if (!set || sched_getaffinity(0, size, set.get()) != 0) {
        throw Error{ExitCode::internal, "sched_getaffinity failed: the CPUs of this process are not known"};
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < most_cpus; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set.get())) cpus.push_back(cpu);
    }
    return cpus;
}

int allowed_cpus() {
    return std::max(1, static_cast<int>(allowed_cpu_list().size()));
}

}  // namespace ringscope::environment
