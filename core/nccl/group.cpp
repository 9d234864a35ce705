// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/group.hpp"

#include <cstring>
#include <thread>
#include <utility>

#include "base/time.hpp"
#include "nccl/bounded.hpp"

namespace ringscope::nccl {

Group::Group(int ranks, Limits limits, Calls calls)
    : limits_{limits}, calls_{std::move(calls)}, waiting_(static_cast<std::size_t>(ranks)) {}

void Group::call(int rank, int device, std::int64_t limit_ns, std::function<void()> call) {
    const std::int64_t round = round_.load();
    waiting_[static_cast<std::size_t>(rank)] = {device, std::move(call)};
    ++arrived_;
    if (rank == 0) {
        await(limits_.come, "a rank", [&] { return arrived_.load() == static_cast<int>(waiting_.size()); });
        make_all(limit_ns);
        arrived_.store(0);
        round_.store(round + 1);
    } else {
        await(limits_.made + limit_ns, "rank 0", [&] { return round_.load() != round; });
    }
    if (code_ != ExitCode::ok) throw Error{code_, fault_};
}

/// With a limit on a thread of its own, for what may never return.
void Group::make_all(std::int64_t limit_ns) {
    const auto make = [doing = calls_, calls = waiting_] {
        doing.start();
        try {
            for (const Call& call : calls) {
                doing.use(call.device);
                call.make();
            }
        } catch (const Error&) {
            doing.end();  // a group that is left open takes in whatever this thread calls next
            throw;
        }
        doing.end();
    };
    code_ = ExitCode::ok;
    try {
        if (limit_ns == 0) {
            make();
        } else if (!returns_within(limit_ns, make)) {
            throw Error{
                ExitCode::timeout, "nccl: no end of a group after " + std::to_string(limit_ns / 1'000'000) +
                                       " ms (timeout.wait): a GPU cannot be reached"};
        }
    } catch (const Error& e) {
        code_ = e.code();
        fault_ = e.what();
    }
    calls_.use(waiting_.front().device);
}

template <class Condition>
void Group::await(std::int64_t limit_ns, const char* whom, Condition condition) {
    const std::int64_t deadline = now_ns() + limit_ns;
    while (!condition()) {
        if (broken_.load() || now_ns() > deadline) {
            broken_.store(true);
            throw Error{
                ExitCode::timeout, "nccl: " + std::string{whom} +
                                       " of this process did not come to the group in " +
                                       std::to_string(limit_ns / 1'000'000) + " ms (timeout.wait)"};
        }
        std::this_thread::yield();
    }
}

std::shared_ptr<Group> meet(bootstrap::Bootstrap& bootstrap, Group::Limits limits, Group::Calls calls) {
    std::shared_ptr<Group> group;
    if (bootstrap.rank() == 0) group = std::make_shared<Group>(bootstrap.size(), limits, std::move(calls));
    const auto* own = &group;
    std::string address{reinterpret_cast<const char*>(&own), sizeof(own)};
    bootstrap.broadcast(address, 0);
    const std::shared_ptr<Group>* first = nullptr;
    std::memcpy(&first, address.data(), sizeof(first));
    if (bootstrap.rank() != 0) group = *first;
    bootstrap.barrier();  // rank 0's own lives until all have a copy
    return group;
}

}  // namespace ringscope::nccl
