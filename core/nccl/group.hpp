// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace ringscope::nccl {

/// Ranks that are threads of one process, with a GPU each. Rank 0 makes everybody's calls of NCCL, between
/// ncclGroupStart and ncclGroupEnd and with the device of each current, as a program does that drives several
/// GPUs from one thread. Ungrouped, the first call would wait for a second that nobody makes.
class Group {
 public:
    /// How a group begins and ends, and a device is made current.
    struct Calls {
        std::function<void()> start, end;
        std::function<void(int device)> use;
    };

    /// Ranks wait so long for each other, in ns.
    struct Limits {
        std::int64_t come;  ///< rank 0 for all others to have come
        std::int64_t made;  ///< the others for rank 0, whose first calls connect the GPUs
    };

    Group(int ranks, Limits limits, Calls calls);

    /// Hands `call` over, for this thread's device, and returns when all ranks' calls have been made. Throws
    /// on all ranks what one of them threw; timeout where ranks do not come within the group's limits, or
    /// rank 0 is not back within `limit_ns` (0: whenever). After a timeout the group is of no use.
    void call(int rank, int device, std::int64_t limit_ns, std::function<void()> call);

    [[nodiscard]] bool is_broken() const { return broken_.load(); }

 private:
    struct Call {
        int device = 0;
        std::function<void()> make;
    };

    void make_all(std::int64_t limit_ns);
    /// Polls: the calls of a measurement are a few microseconds apart.
    template <class Condition>
    void await(std::int64_t limit_ns, const char* whom, Condition condition);

    Limits limits_;
    Calls calls_;
    std::vector<Call> waiting_;
    std::atomic<int> arrived_{0};
    std::atomic<std::int64_t> round_{0};
    std::atomic<bool> broken_{false};
    ExitCode code_ = ExitCode::ok;  ///< of the last round
    std::string fault_;
};

/// One group for all ranks, which share an address space. [collective]
[[nodiscard]] std::shared_ptr<Group> meet(
    bootstrap::Bootstrap& bootstrap, Group::Limits limits, Group::Calls calls
);

}  // namespace ringscope::nccl
