// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "verify/guard.hpp"

namespace ringscope::verify {

/// A user buffer with at least 4 KiB of known bytes on both sides, which show a write outside of it. The data
/// begins `offset_bytes` behind a 128-byte boundary. All pages are touched.
class GuardedBuffer {
 public:
    explicit GuardedBuffer(std::int64_t bytes, std::int64_t offset_bytes = 0);
    /// In so much memory of the caller's, aligned to whole pages, as GuardLayout says.
    GuardedBuffer(std::int64_t bytes, std::int64_t offset_bytes, std::byte* memory);

    [[nodiscard]] std::byte* data() noexcept { return memory_.get() + layout_.front; }
    [[nodiscard]] const std::byte* data() const noexcept { return memory_.get() + layout_.front; }
    [[nodiscard]] std::int64_t bytes() const noexcept { return layout_.bytes; }

    /// The data with the guards around it, to be replaced by those of a device's buffer.
    [[nodiscard]] std::span<std::byte> with_guards() noexcept {
        return {memory_.get(), static_cast<std::size_t>(layout_.total)};
    }

    /// Fills the data with 0xFF: a NaN in every floating-point type.
    void poison() noexcept;
    /// Writes the guards anew, after damage was reported.
    void restore_guards() noexcept;
    [[nodiscard]] bool guards_intact() const noexcept { return !first_damage().has_value(); }
    /// The damaged byte nearest to the front, relative to the data: negative before it, >= bytes() behind it.
    [[nodiscard]] std::optional<std::int64_t> first_damage() const noexcept;

 private:
    GuardLayout layout_;
    std::unique_ptr<std::byte, void (*)(void*)> memory_;
};

}  // namespace ringscope::verify
