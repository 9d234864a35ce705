// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "cuda/cuda.hpp"

namespace ringscope::transport {

/// The data plane of GPUs: one allocation per rank, which all ranks of the host can reach, or its rank alone
/// where GPUs do not reach each other. Connections and user buffers lie in it. Between processes it travels
/// as a CUDA IPC handle; an allocation of its own, so that nothing else is exposed and offsets are our own.
class Arena {
 public:
    enum class Reach { own_rank, all_ranks };

    /// `devices[r]` is the GPU of rank r, as this process counts them; for ranks of one process.
    Arena(bootstrap::Bootstrap& bootstrap, std::vector<int> devices)
        : bootstrap_{bootstrap}, devices_{std::move(devices)} {}
    ~Arena() { release(); }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// Makes every rank's arena at least this large and lets so many ranks reach it; contents are lost when
    /// it grows or is opened. [collective] Throws AgreedError: out_of_memory, or unusable_engine when a
    /// peer's memory cannot be opened.
    void reserve(std::int64_t bytes, Reach reach);

    /// Lets go of the other ranks' memory and waits until all have: only then may an exporter free its own.
    /// [collective]
    void close();

    /// Start of a rank's arena in this rank's address space; aligned to 2 MiB. Null for another rank's that
    /// was not opened.
    [[nodiscard]] std::byte* of(int rank) const { return addresses_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] std::int64_t bytes() const { return own_.bytes(); }
    /// What opening the other ranks' memory has taken so far, in ns; -1: it was never opened.
    [[nodiscard]] std::int64_t open_ns() const { return open_ns_; }

 private:
    void release();
    void allocate(std::int64_t bytes);
    void share();
    void open(const std::vector<std::string>& names);

    bootstrap::Bootstrap& bootstrap_;
    std::vector<int> devices_;
    bool shared_ = false;
    std::int64_t open_ns_ = -1;
    ringscope::cuda::DeviceMemory own_;
    std::vector<std::unique_ptr<ringscope::cuda::ImportedMemory>> imported_;
    std::vector<std::byte*> addresses_;
};

}  // namespace ringscope::transport
