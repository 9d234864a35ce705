// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/summary.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace ringscope::report {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Bytes per nanosecond are GB/s. A time of zero would make a bandwidth of infinity, which is no measurement.
double rate(double bytes, double time_ns) {
    return time_ns > 0 ? bytes / time_ns : nan;
}

}  // namespace

double CaseSummary::verified_time_ns() const {
    return row.status == trace::CaseStatus::ok ? time_ns : nan;
}

double CaseSummary::algbw() const {
    return rate(static_cast<double>(row.bytes), verified_time_ns());
}

double CaseSummary::busbw() const {
    return algbw() * 2.0 * (ranks - 1) / ranks;
}

double CaseSummary::link_bandwidth() const {
    return rate(busiest_link_bytes, verified_time_ns());
}

std::string_view status_name(trace::CaseStatus status) noexcept {
    static constexpr std::array<std::string_view, 5> names{"ok", "wrong", "timeout", "failed", "skipped"};
    return names[static_cast<std::size_t>(status)];
}

std::string explanation(const CaseSummary& summary) {
    if (summary.row.status == trace::CaseStatus::ok) return summary.row.reason;
    const std::string status{status_name(summary.row.status)};
    std::string text = summary.row.reason.empty() ? status : status + ": " + summary.row.reason;
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::string parameters(const AlgorithmChoice& algorithm) {
    std::string text;
    const auto add = [&](const std::string& name, const std::string& value) {
        text += (text.empty() ? "" : " ") + name + "=" + value;
    };
    for (const auto& [name, word] : algorithm.words) add(name, word);
    for (const auto& [name, value] : algorithm.params) add(name, std::to_string(value));
    return text;
}

std::string label(const AlgorithmChoice& algorithm) {
    const std::string text = parameters(algorithm);
    return text.empty() ? algorithm.id : algorithm.id + " " + text;
}

}  // namespace ringscope::report
