// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "report/summary.hpp"
#include "trace/rows.hpp"

namespace ringscope::report {

/// What is known of a run before its first case.
struct RunHeader {
    std::string version;  ///< of the program
    std::string name;     ///< of the experiment
    std::vector<trace::RankEnvironment> ranks;
    std::int64_t min_bytes = 0, max_bytes = 0;
    std::string step;  ///< as nccl-tests writes it: "2(factor)", "1048576(bytes)"; "list" for a list of sizes
    std::int64_t warmup = 0, iterations = 0;
    Mode mode = Mode::isolated;  ///< of the first case
    std::string statistic;       ///< of the first case's mode: "median of 20 samples"
    bool both_places = false;    ///< every case is run out of place and in place
    std::string warning;         ///< "8 ranks on 2 cores: times are no measurement", or empty
    std::string output;          ///< path of the trace, or empty
};

/// How the time of a case comes from its samples: "median of 20 samples", "mean of 20 operations", "median of
/// 20 graphs".
[[nodiscard]] std::string statistic_of(Mode mode, std::int64_t iterations);

/// Shows a run while it goes on. Rank 0 alone has one; calls come in the order begin, add..., end.
class Reporter {
 public:
    Reporter() = default;
    Reporter(const Reporter&) = delete;
    Reporter& operator=(const Reporter&) = delete;
    virtual ~Reporter() = default;

    virtual void begin(const RunHeader& header) = 0;
    virtual void add(const CaseSummary& summary) = 0;
    virtual void end(const TrafficVerdict& verdict, ExitCode code) = 0;
};

enum class Format { table, json, csv };

/// The stream must outlive the reporter.
[[nodiscard]] std::unique_ptr<Reporter> make_reporter(Format format, std::ostream& out);

}  // namespace ringscope::report
