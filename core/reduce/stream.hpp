// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringscope::reduce {

/// Copies past the caches where the processor can: no line of the destination is read before it is written, and
/// none displaces what is in use. For destinations that no cache would keep anyway.
void stream_copy(const std::byte* from, std::byte* to, std::int64_t bytes) noexcept;

/// All that was copied so is visible before what is stored next.
void end_streams() noexcept;

}  // namespace ringscope::reduce
