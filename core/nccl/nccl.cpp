// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/nccl.hpp"

#include <dlfcn.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "cuda/cuda.hpp"
#include "nccl/bounded.hpp"
#include "nccl/choice.hpp"

namespace ringscope::nccl {
namespace {

// Of NCCL 2.27; spelt here so that older headers will do.
using WindowRegister = ncclResult_t (*)(ncclComm_t, void*, std::size_t, void**, int);
using WindowDeregister = ncclResult_t (*)(ncclComm_t, void*);
constexpr int symmetric_window = 1;
// Of NCCL 2.24, for the same reason.
constexpr auto float8_e4m3 = static_cast<ncclDataType_t>(10), float8_e5m2 = static_cast<ncclDataType_t>(11);
constexpr int first_version_with_float8 = 22400;

/// The functions of the library that are used here.
struct Library {
    std::string reason;  ///< why it cannot be used, or ""
    decltype(&ncclGetVersion) get_version = nullptr;
    decltype(&ncclGetUniqueId) get_unique_id = nullptr;
    decltype(&ncclCommInitRankConfig) init = nullptr;
    decltype(&ncclCommFinalize) finalize = nullptr;
    decltype(&ncclCommDestroy) destroy = nullptr;
    decltype(&ncclCommAbort) abort = nullptr;
    decltype(&ncclCommGetAsyncError) async_error = nullptr;
    decltype(&ncclGetErrorString) error_string = nullptr;
    decltype(&ncclGetLastError) last_error = nullptr;
    decltype(&ncclAllReduce) all_reduce = nullptr;
    decltype(&ncclGroupStart) group_start = nullptr;
    decltype(&ncclGroupEnd) group_end = nullptr;
    decltype(&ncclMemAlloc) allocate = nullptr;
    decltype(&ncclMemFree) free = nullptr;
    WindowRegister window_register = nullptr;
    WindowDeregister window_deregister = nullptr;
};

/// Looks a function up; whether it is there.
template <class Function>
bool look_up(void* file, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(file, name));
    return function != nullptr;
}

Library open_library() {
    Library found;
    void* file = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
        found.reason = "NCCL is not on this machine (" + std::string{dlerror()} +
                       "): install it, or put its folder into LD_LIBRARY_PATH";
        return found;
    }
    const bool complete =
        look_up(file, "ncclGetVersion", found.get_version) &&
        look_up(file, "ncclGetUniqueId", found.get_unique_id) &&
        look_up(file, "ncclCommInitRankConfig", found.init) &&
        look_up(file, "ncclCommFinalize", found.finalize) &&
        look_up(file, "ncclCommDestroy", found.destroy) && look_up(file, "ncclCommAbort", found.abort) &&
        look_up(file, "ncclCommGetAsyncError", found.async_error) &&
        look_up(file, "ncclGetErrorString", found.error_string) &&
        look_up(file, "ncclGetLastError", found.last_error) &&
        look_up(file, "ncclAllReduce", found.all_reduce) &&
        look_up(file, "ncclGroupStart", found.group_start) &&
        look_up(file, "ncclGroupEnd", found.group_end) && look_up(file, "ncclMemAlloc", found.allocate) &&
        look_up(file, "ncclMemFree", found.free);
    if (!complete) found.reason = "the NCCL of this machine is too old: 2.19 or newer is needed";
    look_up(file, "ncclCommWindowRegister", found.window_register);
    look_up(file, "ncclCommWindowDeregister", found.window_deregister);
    return found;
}

/// Opened once and never closed: NCCL has threads of its own.
const Library& opened() {
    static const Library only = open_library();
    return only;
}

const Library& library() {
    if (!opened().reason.empty()) throw Error{ExitCode::unusable_engine, opened().reason};
    return opened();
}

void require(ncclResult_t status, const char* what, ncclComm_t communicator = nullptr) {
    if (status == ncclSuccess) return;
    std::string words = library().error_string(status);
    const char* last = library().last_error(communicator);
    if (last != nullptr && *last != '\0') words += ": " + std::string{last};
    throw Error{ExitCode::unusable_engine, "nccl: " + std::string{what} + ": " + words};
}

ncclDataType_t type_of(DataType dtype) {
    switch (dtype) {
        case DataType::float32:
            return ncclFloat32;
        case DataType::float64:
            return ncclFloat64;
        case DataType::float16:
            return ncclFloat16;
        case DataType::bfloat16:
            return ncclBfloat16;
        case DataType::int32:
            return ncclInt32;
        case DataType::int64:
            return ncclInt64;
        case DataType::uint8:
            return ncclUint8;
        case DataType::int8:
            return ncclInt8;
        case DataType::uint32:
            return ncclUint32;
        case DataType::uint64:
            return ncclUint64;
        case DataType::float8_e4m3:
            return float8_e4m3;
        case DataType::float8_e5m2:
            return float8_e5m2;
    }
    throw Error{ExitCode::internal, "nccl: no such type"};
}

ncclRedOp_t op_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::sum:
            return ncclSum;
        case ReduceOp::prod:
            return ncclProd;
        case ReduceOp::min:
            return ncclMin;
        case ReduceOp::max:
            return ncclMax;
        case ReduceOp::avg:
            return ncclAvg;
    }
    throw Error{ExitCode::internal, "nccl: no such operation"};
}

ncclConfig_t config_of(const Options& options) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (options.min_ctas > 0) config.minCTAs = static_cast<int>(options.min_ctas);
    if (options.max_ctas > 0) config.maxCTAs = static_cast<int>(options.max_ctas);
    return config;
}

std::string in_ms(std::int64_t ns) {
    return std::to_string(ns / 1'000'000) + " ms";
}

/// To find all ranks and look at all links takes NCCL seconds on a large machine, however quick operations
/// are.
constexpr std::int64_t set_up_ns = 20'000'000'000;

/// A call of NCCL on a thread of its own, but on this thread's device. Throws timeout where it does not
/// return.
void bounded(std::int64_t ns, const char* what, std::function<ncclResult_t()> call) {
    const bool returned = returns_within(ns, [device = cuda::current_device(), what, call = std::move(call)] {
        cuda::use_device(device);
        require(call(), what);
    });
    if (returned) return;
    throw Error{
        ExitCode::timeout, "nccl: " + std::string{what} + ": no end after " + in_ms(ns) +
                               " (timeout.wait): a rank is missing, or cannot be reached"};
}

/// The same where nobody can be told of a failure.
void try_bounded(std::int64_t ns, std::function<ncclResult_t()> call) noexcept {
    try {
        bounded(ns, "end", std::move(call));
    } catch (const std::exception&) {  // it comes after a failure that was reported
    }
}

std::string new_id() {
    ncclUniqueId id{};
    require(library().get_unique_id(&id), "cannot make a name for the ranks to meet");
    return {id.internal, sizeof(id.internal)};
}

int version_code() {
    int code = 0;
    require(library().get_version(&code), "cannot ask for the version");
    return code;
}

std::string version_text(int code) {
    return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
           std::to_string(code % 100);
}

Group::Calls group_calls() {
    return {
        .start = [] { require(library().group_start(), "cannot begin a group"); },
        .end = [] { require(library().group_end(), "a group failed"); },
        .use = cuda::use_device};
}

Variables together(Variables a, const Variables& b) {
    a.insert(b.begin(), b.end());
    return a;
}

}  // namespace

bool available(std::string& reason) {
    reason = opened().reason;
    return reason.empty();
}

std::string library_version() {
    return version_text(version_code());
}

bool has_windows() {
    return opened().window_register != nullptr && opened().window_deregister != nullptr;
}

std::string missing_type(DataType dtype, int version, int capability) {
    constexpr int first_capability_with_float8 = 90;  // else NCCL says ncclInvalidArgument
    const std::string name{name_of(dtype)};
    if (dtype != DataType::float8_e4m3 && dtype != DataType::float8_e5m2) return "";
    if (version < first_version_with_float8) {
        return name + " needs NCCL 2.24 or newer, and this is " + version_text(version);
    }
    if (capability >= first_capability_with_float8) return "";
    return "NCCL reduces " + name + " on GPUs of compute capability 9.0 and newer, and this one has " +
           std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::string missing_type(DataType dtype) {
    const cuda::DeviceInfo gpu = cuda::device_info(cuda::current_device());
    return missing_type(dtype, version_code(), 10 * gpu.major + gpu.minor);
}

Variables environment_for(const Options& options) {
    Variables variables;
    if (!options.algo.empty()) variables["NCCL_ALGO"] = options.algo;
    if (!options.proto.empty()) variables["NCCL_PROTO"] = options.proto;
    return variables;
}

Communicator::Communicator(bootstrap::Bootstrap& bootstrap, const Options& options, std::int64_t wait_ns)
    : wait_ns_{wait_ns}, rank_{bootstrap.rank()}, device_{cuda::current_device()} {
    if (bootstrap.shares_address_space())
        group_ = meet(bootstrap, {.come = wait_ns, .made = wait_ns + set_up_ns}, group_calls());
    // Ranks that are threads share one environment: the first sets it, and restores it when all are done.
    std::unique_ptr<ScopedEnvironment> environment;
    std::string id;
    bootstrap::agree(bootstrap, [&] {
        if (bootstrap.rank() == 0 || !bootstrap.shares_address_space()) {
            environment =
                std::make_unique<ScopedEnvironment>(together(environment_for(options), profiler_environment())
                );
        }
        if (bootstrap.rank() == 0) id = new_id();
    });
    bootstrap.broadcast(id, 0);
    bootstrap::agree(bootstrap, [&] { create(id, options, bootstrap.size()); });
}

void Communicator::create(const std::string& id, const Options& options, int size) {
    constexpr const char* what = "cannot connect the ranks";
    const auto made = std::make_shared<ncclComm_t>(nullptr);
    // In a group the configuration is read when the group ends.
    const auto config = std::make_shared<ncclConfig_t>(config_of(options));
    const auto init = [made, config, id, size, rank = rank_] {
        ncclUniqueId name{};
        std::memcpy(name.internal, id.data(), std::min(id.size(), sizeof(name.internal)));
        return library().init(made.get(), size, name, rank, config.get());
    };
    if (group_) {
        group_->call(rank_, device_, wait_ns_ + set_up_ns, [init] { require(init(), what); });
    } else {
        bounded(wait_ns_ + set_up_ns, what, init);
    }
    handle_ = *made;
}

Communicator::~Communicator() {
    if (handle_ == nullptr) return;
    try_bounded(wait_ns_, [handle = handle_] {
        const ncclResult_t status = library().finalize(handle);
        return status == ncclSuccess ? library().destroy(handle) : library().abort(handle);
    });
}

void Communicator::all_reduce(
    const std::byte* input, std::byte* output, std::int64_t count, DataType dtype, ReduceOp op,
    CUstream_st* stream
) {
    const auto call = [=, this] {
        require(
            library().all_reduce(
                input, output, static_cast<std::size_t>(count), type_of(dtype), op_of(op), handle_, stream
            ),
            "all-reduce refused", handle_
        );
    };
    if (!group_) return call();
    constexpr std::int64_t unlimited = 0;  // a thread for it would be timed
    group_->call(rank_, device_, unlimited, call);
}

void Communicator::check() const {
    ncclResult_t state = ncclSuccess;
    require(library().async_error(handle_, &state), "cannot ask for errors", handle_);
    if (state != ncclInProgress) require(state, "all-reduce failed", handle_);
}

bool Communicator::usable() const {
    return handle_ != nullptr && !(group_ && group_->is_broken());
}

void Communicator::abort() noexcept {
    ncclComm_t handle = std::exchange(handle_, nullptr);
    if (handle != nullptr) try_bounded(wait_ns_, [handle] { return library().abort(handle); });
}

Memory::Memory(std::int64_t bytes) : bytes_{bytes} {
    void* memory = nullptr;
    if (bytes > cuda::free_memory()) {
        throw Error{
            ExitCode::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes of GPU memory (" +
                                         std::to_string(cuda::free_memory()) +
                                         " bytes are free): run smaller sizes"};
    }
    require(library().allocate(&memory, static_cast<std::size_t>(bytes)), "cannot allocate GPU memory");
    data_ = static_cast<std::byte*>(memory);
}

Memory::~Memory() {
    library().free(data_);
}

Window::Window(Communicator& communicator, const Memory& memory) : communicator_{communicator} {
    if (!has_windows()) {
        throw Error{
            ExitCode::unusable_engine,
            "nccl: symmetric windows need NCCL 2.27, and this is " + library_version()};
    }
    const auto made = std::make_shared<void*>(nullptr);
    bounded(
        communicator.wait_ns() + set_up_ns, "cannot register a window",
        [made, handle = communicator.handle(), data = memory.data(), bytes = memory.bytes()] {
            return library().window_register(
                handle, data, static_cast<std::size_t>(bytes), made.get(), symmetric_window
            );
        }
    );
    window_ = *made;
    if (window_ != nullptr) return;
    throw Error{
        ExitCode::unusable_engine,
        "nccl: no symmetric window here: it needs peer access between all GPUs of a node"};
}

Window::~Window() {
    if (!communicator_.usable()) return;
    try_bounded(communicator_.wait_ns(), [handle = communicator_.handle(), window = window_] {
        return library().window_deregister(handle, window);
    });
}

}  // namespace ringscope::nccl
