// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "report/reporter.hpp"

/// A small run with round numbers, for all tests of this folder.
namespace ringscope::report::samples {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A ring over 4 ranks: 1.5 * 1024 bytes go over each of its links.
inline CaseSummary ring_case(std::int64_t bytes, double time_ns, bool in_place) {
    CaseSummary summary;
    summary.point.algorithm.id = "ring-ll";
    summary.point.engine = "auto";
    summary.row.algorithm = "ring-ll";
    summary.row.engine = "host-shm";
    summary.row.protocol = "ll";
    summary.row.bytes = bytes;
    summary.row.count = bytes / 4;
    summary.row.in_place = in_place;
    summary.ranks = 4;
    summary.time_ns = time_ns;
    summary.busiest_link_bytes = 1.5 * static_cast<double>(bytes);
    summary.waited_share = 0.25;
    return summary;
}

inline CaseSummary ended(CaseSummary summary, trace::CaseStatus status, const std::string& reason) {
    summary.row.status = status;
    summary.row.reason = reason;
    return summary;
}

inline RunHeader header() {
    RunHeader header;
    header.version = "0.1.0";
    header.name = "sample";
    for (std::int32_t rank = 0; rank < 4; ++rank) {
        trace::RankEnvironment environment;
        environment.rank = rank;
        environment.host = "node7";
        environment.pid = 1234 + rank;
        environment.cpuset = "0-1";
        header.ranks.push_back(environment);
    }
    header.min_bytes = 1024;
    header.max_bytes = 4096;
    header.step = "4(factor)";
    header.warmup = 5;
    header.iterations = 20;
    header.statistic = "median of 20 samples";
    header.both_places = true;
    header.warning = "4 ranks on 2 cores: times are no measurement";
    header.output = "data/sample.h5";
    return header;
}

inline TrafficVerdict verdict() {
    TrafficVerdict verdict;
    verdict.cases_checked = 3;
    verdict.links_checked = verdict.links_traced = verdict.links_equal = 12;
    return verdict;
}

}  // namespace ringscope::report::samples
