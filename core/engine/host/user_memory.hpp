// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "transport/windows.hpp"

namespace ringscope::engine::host {

/// Memory for a rank's user buffers that all ranks of the host reach. Operations whose buffers lie in it, at
/// the same offsets on all ranks, save the copies that schedule::Place names.
class UserMemory {
 public:
    /// As much on every rank, or null on every rank where there is too little memory to share. [collective]
    [[nodiscard]] static std::unique_ptr<UserMemory> reserve(
        bootstrap::Bootstrap& bootstrap, std::int64_t bytes
    );

    /// This rank's, aligned to whole pages and zeroed.
    [[nodiscard]] std::byte* own() const { return own_.data(); }
    /// How far each rank's memory is from this rank's, where both buffers lie in it; else nothing.
    [[nodiscard]] std::span<const std::ptrdiff_t> distances(
        const std::byte* input, const std::byte* output, std::int64_t bytes
    ) const;

 private:
    UserMemory(bootstrap::Bootstrap& bootstrap, std::int64_t bytes);
    [[nodiscard]] bool holds(const std::byte* begin, std::int64_t bytes) const;

    std::unique_ptr<transport::Windows> windows_;
    std::span<std::byte> own_;
    std::vector<std::ptrdiff_t> distances_;
};

}  // namespace ringscope::engine::host
