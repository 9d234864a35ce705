// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ringscope::bootstrap {

/// The control plane: how ranks find and inform each other. Never timed, never traced. Every function but the
/// queries and the messages is collective: all ranks call it, in the same order; it returns when its effect
/// is visible at the caller.
class Bootstrap {
 public:
    virtual ~Bootstrap() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    /// Ranks of this host, this one included, in order.
    [[nodiscard]] virtual const std::vector<int>& local_ranks() const = 0;
    /// Whether all ranks are threads of this process, so that pointers can be handed over.
    [[nodiscard]] virtual bool shares_address_space() const = 0;

    virtual void barrier() = 0;
    /// The root's bytes, at all ranks.
    virtual void broadcast(std::string& bytes, int root) = 0;
    /// Every rank's bytes, at all ranks.
    [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& bytes) = 0;
    /// Every rank's bytes, at the root; nothing elsewhere.
    [[nodiscard]] virtual std::vector<std::string> gather(const std::string& bytes, int root) = 0;

    /// A short message to another rank, which receives as many as it is sent, in order. It may be on its way
    /// when this returns.
    virtual void send(const std::string& bytes, int to) = 0;
    [[nodiscard]] virtual std::string receive(int from) = 0;
};

/// An error that all ranks have: rank 0 reports it, and all leave in an orderly way.
class AgreedError : public Error {
 public:
    using Error::Error;
};

/// Runs a step that may fail on some ranks only, then lets all ranks know: returns on all, or throws the
/// worst rank's error as AgreedError on all. Without it, a rank that failed would leave the others waiting.
void agree(Bootstrap& bootstrap, const std::function<void()>& step);

/// Ranks as processes started by mpirun.
[[nodiscard]] std::unique_ptr<Bootstrap> make_mpi_bootstrap();

/// Runs `body` for each of `ranks` ranks as threads of this process. When one throws, the others are released
/// from the control plane with an error of their own, and the first error is thrown after all threads have
/// ended.
void run_as_threads(int ranks, const std::function<void(Bootstrap&)>& body);

}  // namespace ringscope::bootstrap
