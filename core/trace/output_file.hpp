// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// What a result file needs of the file system: written aside, put in place whole, never over another by
/// accident. Everything that fails throws Error with exit code output.
namespace ringscope::trace {

/// The name under which a file is written until it is complete.
[[nodiscard]] std::string partial_name(const std::string& path);

/// Refuses a path that is a directory, or that exists unless `force`.
void refuse_existing(const std::string& path, bool force);

/// Makes the directory of `path` if it is missing.
void make_parent(const std::string& path);

/// Throws Error(output) where a run that goes on has this output.
void refuse_running(const std::string& path);

/// Removes what a crashed run left under this name; refuses if a running process still holds it.
void remove_stale(const std::string& partial);

/// Refuses if the file system of `path` has less than `bytes` bytes for us.
void require_space(const std::string& path, std::int64_t bytes);

/// Makes `partial` durable and gives it its final name; the directory is durable too on return.
void publish(const std::string& partial, const std::string& path);

}  // namespace ringscope::trace
