// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cuda/cuda.hpp"
#include "verify/device.hpp"
#include "verify/pack.hpp"

namespace ringscope::gpu {

using Bytes = std::vector<std::byte>;

/// What kernels of several threads need to be resident together, set before CUDA starts: streams with queues
/// of their own, and code that is loaded beforehand.
inline const bool residency = [] {
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    return true;
}();

/// Tests that need a GPU, and say why there is none.
class OnGpu : public testing::Test {
 protected:
    void SetUp() override {
        std::string reason;
        if (cuda::device_count(reason) == 0) GTEST_SKIP() << reason;
    }
};

inline void upload(std::byte* to, const Bytes& bytes, const cuda::Stream& stream) {
    if (bytes.empty()) return;
    cuda::copy_to_device(to, bytes.data(), static_cast<std::int64_t>(bytes.size()), stream);
    stream.synchronize();
}

inline Bytes download(const std::byte* from, std::int64_t bytes, const cuda::Stream& stream) {
    Bytes host(static_cast<std::size_t>(bytes));
    if (host.empty()) return host;
    cuda::copy_to_host(host.data(), from, bytes, stream);
    stream.synchronize();
    return host;
}

/// Flips the lowest bit of a byte in device memory.
inline void flip(std::byte* byte, const cuda::Stream& stream) {
    Bytes host = download(byte, 1, stream);
    host[0] ^= std::byte{1};
    upload(byte, host, stream);
}

/// The hash of a message, byte by byte on the host.
inline std::uint64_t hash_of(const Bytes& message) {
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at < message.size(); at += 16) {
        verify::Pack pack{0, 0};
        for (std::size_t i = 0; i < 16 && at + i < message.size(); ++i) {
            std::uint64_t& word = i < 8 ? pack.low : pack.high;
            word |= std::to_integer<std::uint64_t>(message[at + i]) << (8 * (i % 8));
        }
        hash += verify::hash_share(pack, static_cast<std::int64_t>(at));
    }
    return hash;
}

}  // namespace ringscope::gpu
