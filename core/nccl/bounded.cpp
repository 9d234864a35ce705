// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/bounded.hpp"

#include <chrono>
#include <future>
#include <thread>

namespace ringscope::nccl {

bool returns_within(std::int64_t ns, std::function<void()> call) {
    std::packaged_task<void()> task{std::move(call)};
    std::future<void> end = task.get_future();
    std::thread{std::move(task)}.detach();
    if (end.wait_for(std::chrono::nanoseconds{ns}) != std::future_status::ready) return false;
    end.get();
    return true;
}

}  // namespace ringscope::nccl
