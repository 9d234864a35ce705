// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/user_memory.hpp"

#include "base/error.hpp"

namespace ringscope::engine::host {
namespace {

/// MPI has memory there that it has not touched yet, and a rank dies that touches what is no longer to be
/// had.
void leave_half_to_others(const bootstrap::Bootstrap& bootstrap, std::int64_t bytes) {
    if (bootstrap.shares_address_space()) return;
    const auto ranks = static_cast<std::int64_t>(bootstrap.local_ranks().size());
    if (bytes <= transport::shared_memory_left() / 2 / ranks) return;
    throw Error{
        ExitCode::out_of_memory, "user buffers would take more than half of what is left in /dev/shm"};
}

}  // namespace

std::unique_ptr<UserMemory> UserMemory::reserve(bootstrap::Bootstrap& bootstrap, std::int64_t bytes) {
    try {
        bootstrap::agree(bootstrap, [&] { leave_half_to_others(bootstrap, bytes); });
        return std::unique_ptr<UserMemory>{new UserMemory{bootstrap, bytes}};
    } catch (const bootstrap::AgreedError&) {
        return nullptr;
    }
}

UserMemory::UserMemory(bootstrap::Bootstrap& bootstrap, std::int64_t bytes)
    : windows_{transport::make_windows(bootstrap, bytes)},
      own_{windows_->of(bootstrap.rank()), static_cast<std::size_t>(bytes)} {
    for (int rank = 0; rank < bootstrap.size(); ++rank) distances_.push_back(windows_->of(rank) - own());
}

bool UserMemory::holds(const std::byte* begin, std::int64_t bytes) const {
    return begin >= own_.data() && begin + bytes <= own_.data() + own_.size();
}

std::span<const std::ptrdiff_t> UserMemory::distances(
    const std::byte* input, const std::byte* output, std::int64_t bytes
) const {
    if (!holds(input, bytes) || !holds(output, bytes)) return {};
    return distances_;
}

}  // namespace ringscope::engine::host
