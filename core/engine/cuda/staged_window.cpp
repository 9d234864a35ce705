// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/staged_window.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ringscope::engine::cuda {

void StagedWindows::reserve(std::int64_t bytes) {
    if (bytes <= bytes_) return;
    registrations_.clear();
    windows_.reset();
    bytes_ = 0;
    windows_ = transport::make_windows(bootstrap_, bytes);
    bootstrap::agree(bootstrap_, [&] {
        for (int rank = 0; rank < bootstrap_.size(); ++rank) {
            registrations_.push_back(
                std::make_unique<ringscope::cuda::HostRegistration>(windows_->of(rank), bytes)
            );
        }
    });
    bytes_ = bytes;
}

std::int32_t StagedWindows::numa_node() const {
    if (!windows_) return -1;
    int node = -1;
    const long status = syscall(
        SYS_get_mempolicy, &node, nullptr, 0UL, windows_->of(bootstrap_.rank()), MPOL_F_NODE | MPOL_F_ADDR
    );
    return status == 0 ? node : -1;
}

}  // namespace ringscope::engine::cuda
