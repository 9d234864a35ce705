// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/cold.hpp"

#include <cmath>

#include "bench/statistics.hpp"

namespace ringscope::bench {
namespace {

double operation_ns(const trace::SampleRow& sample) {
    return static_cast<double>(sample.exit_ns - sample.enter_ns) / static_cast<double>(sample.ops);
}

double first_ns(const std::vector<trace::SampleRow>& samples) {
    const bool cold = !samples.empty() && samples.front().state == trace::SampleState::cold;
    return cold ? operation_ns(samples.front()) : trace::nan;
}

double steady_ns(const std::vector<trace::SampleRow>& samples) {
    std::vector<double> times;
    for (const trace::SampleRow& sample : samples) {
        if (sample.state == trace::SampleState::ok && !sample.traced) times.push_back(operation_ns(sample));
    }
    return median(std::move(times));
}

}  // namespace

std::vector<trace::ColdRow> cold_rows(std::int32_t case_index, const std::vector<RankResult>& results) {
    std::vector<trace::ColdRow> rows;
    std::int32_t rank = 0;
    for (const RankResult& result : results) {
        const auto add = [&](const char* phase, double ns) {
            if (!std::isnan(ns)) rows.push_back({phase, rank, case_index, std::llround(ns)});
        };
        add("first_collective", first_ns(result.samples));
        add("steady_state", steady_ns(result.samples));
        ++rank;
    }
    return rows;
}

}  // namespace ringscope::bench
