// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "engine/collective.hpp"
#include "engine/host/engine.hpp"
#include "engine/host/wait.hpp"
#include "ringscope/abi.h"
#include "transport/windows.hpp"

namespace ringscope::engine::host {

/// An all-reduce by a plugin's own kernel. Not traced.
class KernelCollective final : public BlockingCollective {
 public:
    /// [collective] Throws AgreedError when the plugin cannot create the kernel or memory is short.
    KernelCollective(
        bootstrap::Bootstrap& bootstrap, HostEngine& engine, const ringscope_host_kernel& kernel,
        const ringscope_kernel_request& request
    );
    void run(const std::byte* input, std::byte* output) override;
    void run_traced(const std::byte* input, std::byte* output, EventLog&) override { run(input, output); }

 private:
    /// What keep_waiting knows of the wait it is called in.
    struct Patience {
        const Waiter* waiter = nullptr;
        std::int64_t limit_ns = 0, deadline_ns = 0;
        std::int64_t polls = 0;
        std::int32_t peer = -1;  ///< that is waited for, or was
        bool over = false;       ///< it was told to wait no longer
    };
    static std::int32_t keep_waiting(void* self, std::int32_t peer);

    HostEngine& engine_;
    const ringscope_host_kernel& table_;
    ringscope_kernel_request request_;
    std::unique_ptr<transport::Windows> windows_;
    std::vector<void*> addresses_;
    Waiter waiter_;
    Patience patience_;
    std::unique_ptr<void, void (*)(void*)> kernel_;
};

}  // namespace ringscope::engine::host
