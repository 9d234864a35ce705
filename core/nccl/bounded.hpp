// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace ringscope::nccl {

/// Makes a call that may never return, on a thread of its own: whether it returned within `ns`. One that did
/// not goes on in the background, so it must own what it touches. What it throws is thrown here.
[[nodiscard]] bool returns_within(std::int64_t ns, std::function<void()> call);

}  // namespace ringscope::nccl
