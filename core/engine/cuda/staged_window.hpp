// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "cuda/cuda.hpp"
#include "transport/windows.hpp"

namespace ringscope::engine::cuda {

/// A window of the host's memory per rank, page-locked, which all ranks and their GPUs reach: what takes the
/// place of peers' memory where GPUs do not reach each other. Its owner touches it first, so that it lies on
/// the owner's NUMA node.
class StagedWindows {
 public:
    explicit StagedWindows(bootstrap::Bootstrap& bootstrap) : bootstrap_{bootstrap} {}
    StagedWindows(const StagedWindows&) = delete;
    StagedWindows& operator=(const StagedWindows&) = delete;

    /// Makes every rank's window at least this large; contents are lost when it grows. [collective]
    /// Throws AgreedError: out_of_memory, or unusable_engine when a GPU cannot reach it.
    void reserve(std::int64_t bytes);

    [[nodiscard]] std::byte* on_host(int rank) const { return windows_->of(rank); }
    /// Where this rank's GPU sees a rank's window.
    [[nodiscard]] std::byte* on_device(int rank) const {
        return static_cast<std::byte*>(registrations_[static_cast<std::size_t>(rank)]->device_address());
    }
    /// The NUMA node of this rank's window; -1 where the kernel does not tell, or there is no window yet.
    [[nodiscard]] std::int32_t numa_node() const;

 private:
    bootstrap::Bootstrap& bootstrap_;
    std::int64_t bytes_ = 0;
    std::unique_ptr<transport::Windows> windows_;
    std::vector<std::unique_ptr<ringscope::cuda::HostRegistration>> registrations_;
};

}  // namespace ringscope::engine::cuda
