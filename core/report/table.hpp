// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "report/reporter.hpp"

namespace ringscope::report {

/// The table of nccl-tests: its columns in its order, so that its scripts read ours, and columns of our own
/// at the right end. Cases that differ in nothing but their place (out of place, in place) share a line. A
/// line comes out as soon as it is complete.
class TableReporter final : public Reporter {
 public:
    explicit TableReporter(std::ostream& out) : out_{out} {}

    void begin(const RunHeader& header) override;
    void add(const CaseSummary& summary) override;
    void end(const TrafficVerdict& verdict, ExitCode code) override;

 private:
    void print_table_head(Mode mode);
    void open_block(const CaseSummary& summary);
    void print_pending();
    void print_line(const CaseSummary* out_of_place, const CaseSummary* in_place);
    void count(const CaseSummary& summary);

    std::ostream& out_;
    RunHeader header_;
    Mode mode_ = Mode::isolated;
    std::string block_;                   ///< what the block of lines at hand has in common
    std::optional<CaseSummary> pending_;  ///< out of place, waits for the same case in place
    std::int64_t wrong_ = 0, cases_ = 0, suspect_ = 0;
    std::map<std::string, std::vector<std::int32_t>> changed_;  ///< cases by mark, of the machine's health
    double busbw_sum_ = 0;
    std::int64_t busbw_count_ = 0;
};

/// Right-aligned in `width` columns with as many decimals, at most two, as fit; then an exponent. NaN is
/// "N/A".
[[nodiscard]] std::string fit(double value, int width);

/// "# Traffic: declared = traced = closed form on all 36 links of 12 cases; not observable: mpi", or one line
/// for each difference.
[[nodiscard]] std::string traffic_text(const TrafficVerdict& verdict);

}  // namespace ringscope::report
