// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "app/session.hpp"

namespace ringscope::app {

/// Starts the ranks: the processes that mpirun started, or threads of this one with --virtual-ranks. Each
/// calls `body` with its plugins loaded. Returns the exit code of rank 0, with what went wrong said on stderr
/// in one line; ends the process where a peer no longer answers.
[[nodiscard]] ExitCode on_all_ranks(
    const options::Options& options, const std::function<ExitCode(Session&)>& body
);

/// Where one process drives several GPUs: each is a rank, and a thread of this process. The ranks that
/// mpirun started must be this one alone, else usage. `body` as above; called by a body of on_all_ranks.
[[nodiscard]] ExitCode on_all_devices(
    Session& session, std::int64_t devices, const std::function<ExitCode(Session&)>& body
);

/// Before a process whose ranks are threads uses a GPU: its streams shall not wait for each other in the
/// hardware's queues, and all code be loaded beforehand.
void let_kernels_be_resident_together();

/// The error line of a job, in one piece: what comes in several can be torn apart by the table where both go
/// into one file.
void complain(const std::string& what);

/// Ends the job after a peer stopped answering. Rank 0 speaks for all; where rank 0 itself is the silent one,
/// another rank does after a while.
[[noreturn]] void end_job(Session& session, const Error& e);

}  // namespace ringscope::app
