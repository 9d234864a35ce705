// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ringscope::bench {

/// Bytes that this host can still give without swapping: what the kernel calls available, and what the
/// control group of this process leaves. Asking for more ends in the kernel's killing the process, not in an
/// error.
[[nodiscard]] std::int64_t available_memory();

}  // namespace ringscope::bench
