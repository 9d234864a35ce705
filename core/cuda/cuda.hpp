// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"

/// The wall around the CUDA runtime: the only folder, beside `.cu` files, that includes its headers. Owners
/// free what they hold; a failure to do so is not reported, for it comes after a failure that was.
namespace ringscope::cuda {

/// Throws Error for anything but success: out_of_memory, else unusable_engine, with `what` and CUDA's own
/// words. The runtime forgets the error where it can, so that it does not come up again behind a later
/// launch.
void check(cudaError_t status, const char* what);

struct DeviceInfo {
    std::string name, uuid, pci_id;  ///< "NVIDIA H200", "GPU-...", "0000:1b:00.0"
    int major = 0, minor = 0;        ///< compute capability
    int multiprocessors = 0;
    std::int64_t memory_bytes = 0;
};

/// GPUs that this process sees; where there are none, `reason` says why, and no driver is no error.
[[nodiscard]] int device_count(std::string& reason);
[[nodiscard]] DeviceInfo device_info(int device);
/// The GPU with this PCI id as this process counts; -1 where it does not see it.
[[nodiscard]] int device_at(const std::string& pci_id);
/// Whether two GPUs reach each other over NVLink: there, and not over PCIe, atomics are native.
[[nodiscard]] bool joined_by_nvlink(int device, int peer);
/// Whether the driver says that `device` can reach the memory of `peer`. It may be wrong.
[[nodiscard]] bool claims_peer_access(int device, int peer);
/// Whether a kernel, in a graph too, can be launched to begin before the one before it on its stream ends:
/// compute capability 9.0, a driver of CUDA 12.3.
[[nodiscard]] bool has_early_kernels(int device);
void use_device(int device);
[[nodiscard]] int current_device();
[[nodiscard]] std::int64_t free_memory();

/// cudaMalloc'ed memory of the current device.
class DeviceMemory {
 public:
    DeviceMemory() = default;
    explicit DeviceMemory(std::int64_t bytes);  ///< Throws out_of_memory with needed and free bytes.
    ~DeviceMemory();
    DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
    DeviceMemory& operator=(DeviceMemory&& other) noexcept {
        swap(other);
        return *this;
    }

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
    void swap(DeviceMemory& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }
    std::byte* data_ = nullptr;
    std::int64_t bytes_ = 0;
};

/// Page-locked memory of the host that the device can reach by the same address.
class PinnedMemory {
 public:
    explicit PinnedMemory(std::int64_t bytes);  ///< zeroed
    ~PinnedMemory();
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    [[nodiscard]] std::byte* data() const { return data_; }

 private:
    std::byte* data_ = nullptr;
};

/// Memory of the host, made by others, that is page-locked and reachable by devices as long as this lives.
class HostRegistration {
 public:
    HostRegistration(void* memory, std::int64_t bytes);
    ~HostRegistration();
    HostRegistration(const HostRegistration&) = delete;
    HostRegistration& operator=(const HostRegistration&) = delete;
    [[nodiscard]] void* device_address() const { return device_; }

 private:
    void* memory_;
    void* device_ = nullptr;
};

/// A name of device memory for other processes.
[[nodiscard]] std::string export_memory(const DeviceMemory& memory);

/// Another process's device memory in this one.
class ImportedMemory {
 public:
    explicit ImportedMemory(const std::string& name);
    ~ImportedMemory();
    ImportedMemory(const ImportedMemory&) = delete;
    ImportedMemory& operator=(const ImportedMemory&) = delete;
    [[nodiscard]] std::byte* data() const { return data_; }

 private:
    std::byte* data_ = nullptr;
};

/// Lets the current device reach another one's memory, for ranks of one process. Throws unusable_engine.
void enable_peer_access(int peer);

class Event;

class Stream {
 public:
    Stream();
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    [[nodiscard]] cudaStream_t get() const { return stream_; }
    void synchronize() const;
    /// Whether all that was asked for is done, well or not.
    [[nodiscard]] bool is_idle() const;
    /// What the stream is asked for from here on begins when all that was recorded is done.
    void wait_for(const Event& event) const;

 private:
    cudaStream_t stream_ = nullptr;
};

class Event {
 public:
    /// Of one that is not timed only the order is known, which costs the device less.
    explicit Event(bool timed = true);
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record(const Stream& stream) const;
    [[nodiscard]] cudaEvent_t get() const { return event_; }
    /// Whether all that was recorded is done. Throws when it failed.
    [[nodiscard]] bool done() const;
    [[nodiscard]] std::int64_t ns_since(const Event& earlier) const;

 private:
    cudaEvent_t event_ = nullptr;
};

/// What a stream was asked for between begin and end, to be launched as one.
class Graph {
 public:
    Graph() = default;
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    template <class Enqueue>
    void capture(const Stream& stream, Enqueue enqueue) {
        begin(stream);
        enqueue();
        end(stream);
    }
    void launch(const Stream& stream) const;

 private:
    void begin(const Stream& stream);
    void end(const Stream& stream);
    cudaGraphExec_t executable_ = nullptr;
};

void copy_to_device(std::byte* to, const void* from, std::int64_t bytes, const Stream& stream);
void copy_to_host(void* to, const std::byte* from, std::int64_t bytes, const Stream& stream);
void copy_on_device(std::byte* to, const std::byte* from, std::int64_t bytes, const Stream& stream);
/// Between any two memories that the device reaches, by whatever engine the driver takes.
void copy_anywhere(std::byte* to, const std::byte* from, std::int64_t bytes, const Stream& stream);
void zero(std::byte* memory, std::int64_t bytes, const Stream& stream);

}  // namespace ringscope::cuda
