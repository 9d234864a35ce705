// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/session.hpp"
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

/// The cold-start ladder of all ranks, to the writer of rank 0; what rank 0 alone knows comes last.
/// [collective]
void store_cold(Session& session, trace::TraceWriter* writer, std::int64_t first_collective_ns);

/// The NUMA nodes of the windows through which GPUs meet in memory of the host; nothing where none is used.
/// [collective]
[[nodiscard]] std::vector<trace::Fact> staged_facts(Session& session);

/// One row per rank. The ranks of one host share CLOCK_MONOTONIC: offset 0; a GPU's clock has its own.
/// [collective]
[[nodiscard]] std::vector<trace::ClockRow> clocks(Session& session, const std::string& anchor);

}  // namespace ringscope::app
