// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/memory_ops.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>

namespace ringscope::cuda {
namespace {

/// A function of the driver, or null where it has none of this name and version.
void* driver_function(const char* name, [[maybe_unused]] unsigned int version) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
#else
    const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
    if (status == cudaSuccess && found == cudaDriverEntryPointSuccess) return function;
    cudaGetLastError();
    return nullptr;
}

struct Driver {
    PFN_cuDeviceGet_v2000 device =
        reinterpret_cast<PFN_cuDeviceGet_v2000>(driver_function("cuDeviceGet", 2000));
    PFN_cuDeviceGetAttribute_v2000 attribute =
        reinterpret_cast<PFN_cuDeviceGetAttribute_v2000>(driver_function("cuDeviceGetAttribute", 2000));
    PFN_cuStreamWaitValue64_v11070 wait =
        reinterpret_cast<PFN_cuStreamWaitValue64_v11070>(driver_function("cuStreamWaitValue64", 11070));
    PFN_cuStreamWriteValue64_v11070 write =
        reinterpret_cast<PFN_cuStreamWriteValue64_v11070>(driver_function("cuStreamWriteValue64", 11070));
};

const Driver& driver() {
    static const Driver functions;
    return functions;
}

void check_driver(CUresult status, const char* what) {
    if (status == CUDA_SUCCESS) return;
    throw Error{
        ExitCode::unusable_engine, std::string{what} + ": CUDA driver error " + std::to_string(status)};
}

CUdeviceptr address_of(const std::uint64_t* counter) {
    return reinterpret_cast<CUdeviceptr>(counter);
}

}  // namespace

bool has_memory_ops(int device) {
    const Driver& d = driver();
    if (d.device == nullptr || d.attribute == nullptr || d.wait == nullptr || d.write == nullptr)
        return false;
    CUdevice handle = 0;
    int has = 0;
    return d.device(&handle, device) == CUDA_SUCCESS &&
           d.attribute(&has, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, handle) == CUDA_SUCCESS &&
           has != 0;
}

void wait_for_counter(const Stream& stream, std::uint64_t* counter, std::uint64_t value) {
    check_driver(
        driver().wait(stream.get(), address_of(counter), value, CU_STREAM_WAIT_VALUE_GEQ),
        "a stream cannot wait for a counter"
    );
}

void write_counter(const Stream& stream, std::uint64_t* counter, std::uint64_t value) {
    check_driver(
        driver().write(stream.get(), address_of(counter), value, CU_STREAM_WRITE_VALUE_DEFAULT),
        "a stream cannot write a counter"
    );
}

}  // namespace ringscope::cuda
