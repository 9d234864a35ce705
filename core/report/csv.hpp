// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "report/reporter.hpp"

namespace ringscope::report {

/// A header and a line per case (RFC 4180, lines end in a line feed). Units as in the table's JSON: SI, named
/// in the header; what has no value is an empty field.
class CsvReporter final : public Reporter {
 public:
    explicit CsvReporter(std::ostream& out) : out_{out} {}

    void begin(const RunHeader& header) override;
    void add(const CaseSummary& summary) override;
    void end(const TrafficVerdict& verdict, ExitCode code) override;

 private:
    std::ostream& out_;
};

}  // namespace ringscope::report
