// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conform/group.hpp"
#include "report/reporter.hpp"

namespace ringscope::conform {

/// Counts what became of cases, and says nothing.
class Tally final : public report::Reporter {
 public:
    explicit Tally(Group& group) : group_{group} {}

    void begin(const report::RunHeader&) override {}
    void add(const report::CaseSummary& summary) override;
    void end(const report::TrafficVerdict&, ExitCode) override {}

 private:
    Group& group_;
};

}  // namespace ringscope::conform
