// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "bootstrap/bootstrap.hpp"

namespace ringscope::transport {

/// The data plane of one host: each local rank owns a window of zeroed memory that all local ranks can reach.
class Windows {
 public:
    virtual ~Windows() = default;
    /// Start of a local rank's window in this rank's address space, aligned to 4096 bytes.
    [[nodiscard]] virtual std::byte* of(int rank) const = 0;
};

/// Creates this rank's window of so many bytes and maps those of the other local ranks. [collective]
/// Between processes it is shared memory: mode 0600, allocated for real (so a small /dev/shm is an error here
/// and no SIGBUS later), and unlinked as soon as everybody has it, so that nothing is left after a crash.
/// A rank that is killed before that leaves a name, which a later run removes. Between threads it is plain
/// memory. Throws AgreedError: out_of_memory with needed and available bytes.
[[nodiscard]] std::unique_ptr<Windows> make_windows(bootstrap::Bootstrap& bootstrap, std::int64_t bytes);

/// Bytes that are free in /dev/shm.
[[nodiscard]] std::int64_t shared_memory_left();

/// Removes the names of windows in a folder, /dev/shm, that are this user's and older than `age`: a name is
/// needed until all ranks have opened the window, and what is older was left by a rank that was killed.
void remove_left_names(const std::filesystem::path& folder, std::chrono::seconds age);

}  // namespace ringscope::transport
