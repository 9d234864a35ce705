// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/session.hpp"
#include "bench/clock_record.hpp"
#include "environment/topology.hpp"
#include "report/reporter.hpp"
#include "trace/writer.hpp"

/// What is written down of a run beside its cases: for the file and for the head of the table.
namespace ringscope::app {

[[nodiscard]] trace::RunInfo run_info(
    const Experiment& experiment, const Arguments& arguments, const Session& session
);

[[nodiscard]] report::RunHeader header_of(
    const Experiment& experiment, const std::vector<Case>& cases, const Session& session
);

/// The phases of all ranks' start, to the writer of rank 0. [collective]
void store_cold(Session& session, trace::TraceWriter* writer);

/// The NUMA nodes of the windows through which GPUs meet in memory of the host; nothing where none is used.
/// [collective]
[[nodiscard]] std::vector<trace::Fact> staged_facts(Session& session);

/// The clocks of all ranks' processes and GPUs before the sweep, and after it. At rank 0. [collective]
[[nodiscard]] bench::ClockRecord clocks_before(Session& session);
[[nodiscard]] bench::ClockRecord clocks_after(Session& session);

}  // namespace ringscope::app
