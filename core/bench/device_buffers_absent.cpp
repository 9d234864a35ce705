// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "bench/case_buffers.hpp"

// Buffers in device memory, in a build without CUDA: no engine asks for them.
namespace ringscope::bench {

std::int64_t device_bytes(const Case&, std::int64_t) {
    return 0;
}

std::unique_ptr<CaseBuffers> make_device_buffers(
    const Case&, verify::Verifier, int, std::int64_t, std::byte*, std::int64_t
) {
    throw Error{ExitCode::internal, "this build has no CUDA"};
}

}  // namespace ringscope::bench
