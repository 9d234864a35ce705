// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/convert.hpp"

#include <cuda_runtime.h>

#include "cuda/cuda.hpp"
#include "reduce/float8.hpp"
#include "reduce/half.hpp"

namespace ringscope::gpu {
namespace {

using reduce::BFloat16;
using reduce::Float8E4M3;
using reduce::Float8E5M2;
using reduce::Half;

struct FromHalf {
    __device__ float operator()(std::uint16_t bits) const { return to_float(Half{bits}); }
};
struct FromBFloat16 {
    __device__ float operator()(std::uint16_t bits) const { return to_float(BFloat16{bits}); }
};
struct ToHalf {
    __device__ std::uint16_t operator()(float value) const { return reduce::to_half(value).bits; }
};
struct ToBFloat16 {
    __device__ std::uint16_t operator()(float value) const { return reduce::to_bfloat16(value).bits; }
};
struct FromE4M3 {
    __device__ float operator()(std::uint8_t bits) const { return to_float(Float8E4M3{bits}); }
};
struct FromE5M2 {
    __device__ float operator()(std::uint8_t bits) const { return to_float(Float8E5M2{bits}); }
};
struct ToE4M3 {
    __device__ std::uint8_t operator()(float value) const { return reduce::to_float8_e4m3(value).bits; }
};
struct ToE5M2 {
    __device__ std::uint8_t operator()(float value) const { return reduce::to_float8_e5m2(value).bits; }
};

template <class Convert, class From, class To>
__global__ void convert_kernel(const From* from, To* to, std::int64_t count) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) to[i] = Convert{}(from[i]);
}

template <class To, class Convert, class From>
std::vector<To> convert(const std::vector<From>& values) {
    constexpr int threads = 256;
    const auto count = static_cast<std::int64_t>(values.size());
    const cuda::Stream stream;
    const cuda::DeviceMemory from{count * std::int64_t{sizeof(From)}}, to{count * std::int64_t{sizeof(To)}};
    cuda::copy_to_device(from.data(), values.data(), from.bytes(), stream);
    convert_kernel<Convert>
        <<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream.get()>>>(
            reinterpret_cast<const From*>(from.data()), reinterpret_cast<To*>(to.data()), count
        );
    cuda::check(cudaGetLastError(), "conversion kernel");
    std::vector<To> results(values.size());
    cuda::copy_to_host(results.data(), to.data(), to.bytes(), stream);
    stream.synchronize();
    return results;
}

}  // namespace

std::vector<float> floats_of_halfs(const std::vector<std::uint16_t>& bits) {
    return convert<float, FromHalf>(bits);
}
std::vector<float> floats_of_bfloat16s(const std::vector<std::uint16_t>& bits) {
    return convert<float, FromBFloat16>(bits);
}
std::vector<std::uint16_t> halfs_of(const std::vector<float>& values) {
    return convert<std::uint16_t, ToHalf>(values);
}
std::vector<std::uint16_t> bfloat16s_of(const std::vector<float>& values) {
    return convert<std::uint16_t, ToBFloat16>(values);
}

std::vector<float> floats_of_e4m3s(const std::vector<std::uint8_t>& bits) {
    return convert<float, FromE4M3>(bits);
}
std::vector<float> floats_of_e5m2s(const std::vector<std::uint8_t>& bits) {
    return convert<float, FromE5M2>(bits);
}
std::vector<std::uint8_t> e4m3s_of(const std::vector<float>& values) {
    return convert<std::uint8_t, ToE4M3>(values);
}
std::vector<std::uint8_t> e5m2s_of(const std::vector<float>& values) {
    return convert<std::uint8_t, ToE5M2>(values);
}

}  // namespace ringscope::gpu
