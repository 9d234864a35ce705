// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "bootstrap/bootstrap.hpp"
#include "engine/collective.hpp"
#include "engine/host/connections.hpp"
#include "engine/host/control.hpp"
#include "schedule/plan.hpp"
#include "transport/windows.hpp"

namespace ringscope::engine::host {

/// A run of a collective that ended without a result: a peer did not answer in time.
class StuckError : public Error {
 public:
    /// `is_over`: nothing of the collective is running any more on this rank.
    explicit StuckError(const std::string& message, bool is_over = true)
        : Error{ExitCode::timeout, message}, is_over_{is_over} {}
    [[nodiscard]] bool is_over() const { return is_over_; }

 private:
    bool is_over_;
};

struct HostOptions {
    std::int64_t wait_ns = 10'000'000'000;  ///< how long an op waits for a peer
    bool oversubscribed = false;            ///< ranks share cores: yield and sleep early
    /// Take ranks of several hosts. Nothing can be prepared then, and each host has a control page of its
    /// own.
    bool across_hosts = false;
};

struct PreparedOnHost {
    std::unique_ptr<BlockingCollective> collective;
    std::byte* user_memory = nullptr;  ///< as UserMemory::own, alive as long as the collective; or null
};

/// Engine host-shm: interprets schedules between the ranks of one host, over windows that all of them map.
/// The ranks are processes, or threads of one process; the code is the same.
class HostEngine {
 public:
    static constexpr const char* name = "host-shm";

    /// [collective] Throws AgreedError: unusable_engine when the ranks are on several hosts, out_of_memory.
    HostEngine(bootstrap::Bootstrap& bootstrap, const HostOptions& options);

    [[nodiscard]] static bool has(Protocol protocol);
    /// How a protocol moves a message here. Throws Error (unusable_engine) for one that this engine does not
    /// have.
    [[nodiscard]] static schedule::LinkFormat format(Protocol protocol);

    /// Prepares an all-reduce with this plan. Connections are kept by `key` (the algorithm and its
    /// parameters) and used again for other message sizes. With `user_bytes` it finds memory for user
    /// buffers, where there is enough of it. [collective]
    [[nodiscard]] PreparedOnHost prepare(
        const std::string& key, const schedule::Plan& plan, DataType dtype, ReduceOp op,
        std::int64_t user_bytes = 0
    );

    /// Prepares an all-reduce by a plugin's own kernel. [collective]
    [[nodiscard]] std::unique_ptr<BlockingCollective> prepare_kernel(
        const ringscope_host_kernel& kernel, std::int64_t count, DataType dtype, ReduceOp op
    );

    /// What was prepared is gone, and its connections are in an unknown state: the next ones begin anew.
    void forget_connections() { connections_.clear(); }

    [[nodiscard]] Control& control() { return *control_; }
    [[nodiscard]] const HostOptions& options() const { return options_; }

 private:
    bootstrap::Bootstrap& bootstrap_;
    HostOptions options_;
    std::unique_ptr<transport::Windows> control_window_;
    Control* control_;
    std::map<std::string, std::shared_ptr<Connections>> connections_;
};

/// The message of a run that gave up: gathers what all ranks were stuck at. Gives them a moment to say so.
[[nodiscard]] std::string stuck_message(const Control& control, std::int32_t ranks, std::int64_t wait_ns);
/// The same, where all ranks have said so.
[[nodiscard]] std::string timeout_message(const std::string& who_waits, std::int64_t wait_ns);

}  // namespace ringscope::engine::host
