// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace ringscope::cuda {
namespace {

std::string in_words(cudaError_t status) {
    return std::string{cudaGetErrorString(status)} + " (" + cudaGetErrorName(status) + ")";
}

/// Why CUDA finds no device, for a person.
std::string why_no_device(cudaError_t status) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0) return "this machine has no CUDA driver";
    if (status == cudaErrorInsufficientDriver) {
        return "the CUDA driver is too old: it supports CUDA " + std::to_string(driver / 1000) + "." +
               std::to_string(driver % 1000 / 10) + ", this build needs " + std::to_string(runtime / 1000) +
               "." + std::to_string(runtime % 1000 / 10);
    }
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    const std::string seen =
        visible == nullptr ? "" : " (CUDA_VISIBLE_DEVICES is \"" + std::string{visible} + "\")";
    if (status == cudaSuccess || status == cudaErrorNoDevice) return "no GPU is visible" + seen;
    return "no GPU can be used: " + in_words(status) + seen;
}

std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text{"GPU"};
    for (int i = 0; i < 16; ++i) {
        std::array<char, 4> hex{};
        std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text.append(hex.data(), 2);
    }
    return text;
}

/// Ranks that are threads of this process share what is registered.
struct Registrations {
    std::mutex mutex;
    std::map<void*, int> users;
};
Registrations& registrations() {
    static Registrations all;
    return all;
}

}  // namespace

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    const ExitCode code =
        status == cudaErrorMemoryAllocation ? ExitCode::out_of_memory : ExitCode::unusable_engine;
    throw Error{code, std::string{what} + ": " + in_words(status)};
}

int device_count(std::string& reason) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) return count;
    cudaGetLastError();
    reason = why_no_device(status);
    return 0;
}

DeviceInfo device_info(int device) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cannot ask the GPU what it is");
    std::array<char, 32> pci{};
    check(cudaDeviceGetPCIBusId(pci.data(), static_cast<int>(pci.size()), device), "no PCI id");
    return {
        .name = properties.name,
        .uuid = uuid_text(properties.uuid),
        .pci_id = pci.data(),
        .major = properties.major,
        .minor = properties.minor,
        .multiprocessors = properties.multiProcessorCount,
        .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem)};
}

int device_at(const std::string& pci_id) {
    int device = -1;
    if (cudaDeviceGetByPCIBusId(&device, pci_id.c_str()) == cudaSuccess) return device;
    cudaGetLastError();
    return -1;
}

bool joined_by_nvlink(int device, int peer) {
    int native = 0;
    check(
        cudaDeviceGetP2PAttribute(&native, cudaDevP2PAttrNativeAtomicSupported, device, peer),
        "cannot ask how two GPUs are joined"
    );
    return native != 0;
}

bool claims_peer_access(int device, int peer) {
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, device, peer), "cannot ask whether two GPUs reach each other");
    return can != 0;
}

bool has_early_kernels(int device) {
    int major = 0, driver = 0;
    check(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "cannot ask for the GPU's compute capability"
    );
    check(cudaDriverGetVersion(&driver), "cannot ask for the driver's version");
    return major >= 9 && driver >= 12030;
}

void use_device(int device) {
    check(cudaSetDevice(device), "cannot use the GPU");
}

int current_device() {
    int device = 0;
    check(cudaGetDevice(&device), "no current GPU");
    return device;
}

std::int64_t free_memory() {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cannot ask for the GPU's free memory");
    return static_cast<std::int64_t>(free);
}

DeviceMemory::DeviceMemory(std::int64_t bytes) : bytes_{bytes} {
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw Error{
            ExitCode::out_of_memory,
            "cannot allocate " + std::to_string(bytes) + " bytes of GPU memory (" +
                std::to_string(free_memory()) +
                " bytes are free): run smaller sizes, or set fewer or smaller slots"};
    }
    check(status, "cannot allocate GPU memory");
    data_ = static_cast<std::byte*>(memory);
}

DeviceMemory::~DeviceMemory() {
    if (data_ != nullptr) cudaFree(data_);
}

PinnedMemory::PinnedMemory(std::int64_t bytes) {
    void* memory = nullptr;
    check(
        cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocMapped | cudaHostAllocPortable),
        "cannot allocate page-locked memory"
    );
    data_ = static_cast<std::byte*>(memory);
    for (std::int64_t i = 0; i < bytes; ++i) data_[i] = std::byte{0};
}

PinnedMemory::~PinnedMemory() {
    cudaFreeHost(data_);
}

HostRegistration::HostRegistration(void* memory, std::int64_t bytes) : memory_{memory} {
    const std::lock_guard lock{registrations().mutex};
    int& users = registrations().users[memory];
    if (users == 0) {
        check(
            cudaHostRegister(
                memory, static_cast<std::size_t>(bytes), cudaHostRegisterMapped | cudaHostRegisterPortable
            ),
            "cannot page-lock memory that the ranks share"
        );
    }
    ++users;
    check(cudaHostGetDevicePointer(&device_, memory, 0), "the GPU cannot reach memory that the ranks share");
}

HostRegistration::~HostRegistration() {
    const std::lock_guard lock{registrations().mutex};
    if (--registrations().users[memory_] == 0) cudaHostUnregister(memory_);
}

std::string export_memory(const DeviceMemory& memory) {
    cudaIpcMemHandle_t handle{};
    check(cudaIpcGetMemHandle(&handle, memory.data()), "cannot export GPU memory to other processes");
    return {reinterpret_cast<const char*>(&handle), sizeof(handle)};
}

ImportedMemory::ImportedMemory(const std::string& name) {
    cudaIpcMemHandle_t handle{};
    name.copy(reinterpret_cast<char*>(&handle), sizeof(handle));
    void* memory = nullptr;
    check(
        cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess),
        "cannot open another rank's GPU memory"
    );
    data_ = static_cast<std::byte*>(memory);
}

ImportedMemory::~ImportedMemory() {
    cudaIpcCloseMemHandle(data_);
}

void enable_peer_access(int peer) {
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        return;
    }
    check(status, "peer access between the GPUs is refused");
}

Stream::Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cannot create a stream");
}

Stream::~Stream() {
    cudaStreamDestroy(stream_);
}

void Stream::synchronize() const {
    check(cudaStreamSynchronize(stream_), "work on the GPU failed");
}

bool Stream::is_idle() const {
    return cudaStreamQuery(stream_) != cudaErrorNotReady;
}

void Stream::wait_for(const Event& event) const {
    check(cudaStreamWaitEvent(stream_, event.get(), 0), "cannot let a stream wait");
}

Event::Event(bool timed) {
    check(
        cudaEventCreateWithFlags(&event_, timed ? cudaEventDefault : cudaEventDisableTiming),
        "cannot create an event"
    );
}

Event::~Event() {
    cudaEventDestroy(event_);
}

void Event::record(const Stream& stream) const {
    check(cudaEventRecord(event_, stream.get()), "cannot record an event");
}

bool Event::done() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    check(status, "work on the GPU failed");
    return true;
}

std::int64_t Event::ns_since(const Event& earlier) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, earlier.event_, event_), "cannot read the time between two events");
    return static_cast<std::int64_t>(static_cast<double>(ms) * 1e6 + 0.5);
}

Graph::~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

void Graph::begin(const Stream& stream) {
    check(
        cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
        "cannot begin to record a graph"
    );
}

void Graph::end(const Stream& stream) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph), "cannot record a graph");
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    executable_ = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "cannot make a graph ready to run");
    check(cudaGraphUpload(executable_, stream.get()), "cannot upload a graph");
}

void Graph::launch(const Stream& stream) const {
    check(cudaGraphLaunch(executable_, stream.get()), "cannot launch a graph");
}

void copy_to_device(std::byte* to, const void* from, std::int64_t bytes, const Stream& stream) {
    check(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream.get()),
        "cannot copy to the GPU"
    );
}

void copy_to_host(void* to, const std::byte* from, std::int64_t bytes, const Stream& stream) {
    check(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream.get()),
        "cannot copy from the GPU"
    );
}

void copy_on_device(std::byte* to, const std::byte* from, std::int64_t bytes, const Stream& stream) {
    check(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream.get()),
        "cannot copy on the GPU"
    );
}

void copy_anywhere(std::byte* to, const std::byte* from, std::int64_t bytes, const Stream& stream) {
    check(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream.get()),
        "cannot copy between the memories of ranks"
    );
}

void zero(std::byte* memory, std::int64_t bytes, const Stream& stream) {
    check(
        cudaMemsetAsync(memory, 0, static_cast<std::size_t>(bytes), stream.get()), "cannot clear GPU memory"
    );
}

}  // namespace ringscope::cuda
