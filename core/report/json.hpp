// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <vector>

#include "report/reporter.hpp"

namespace ringscope::report {

/// One JSON object at the end of the run. Numbers are raw and in SI units, with the unit in the name of the
/// key; what has no value is null.
class JsonReporter final : public Reporter {
 public:
    explicit JsonReporter(std::ostream& out) : out_{out} {}

    void begin(const RunHeader& header) override;
    void add(const CaseSummary& summary) override;
    void end(const TrafficVerdict& verdict, ExitCode code) override;

 private:
    std::ostream& out_;
    RunHeader header_;
    std::vector<CaseSummary> cases_;
};

}  // namespace ringscope::report
