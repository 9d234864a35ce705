// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reduce/functors.hpp"
#include "ringscope/abi.h"

// Packs: the elements that one thread loads, reduces and stores at a time, as raw words. A pack has 16 bytes
// for Simple and 8 for LL.
namespace ringscope::engine::cuda {

template <class T, class Pack>
struct Elements {
    static constexpr int count = sizeof(Pack) / sizeof(T);
    T at[count];

    __device__ static Elements of(const Pack& pack) { return __builtin_bit_cast(Elements, pack); }
    __device__ Pack pack() const { return __builtin_bit_cast(Pack, *this); }
};

/// Calls f(operation) for the reduction of this launch: one uniform branch, small in code, for kernels begin
/// with cold instruction caches.
template <class F>
__device__ void with_operation(std::int32_t reduction, F f) {
    switch (reduction) {
        case RINGSCOPE_PROD:
            return f(reduce::Prod{});
        case RINGSCOPE_MIN:
            return f(reduce::Min{});
        case RINGSCOPE_MAX:
            return f(reduce::Max{});
        default:
            return f(reduce::Sum{});
    }
}

/// The elements of a pack while they are reduced: wide, so that an op rounds once whatever its fan-in.
template <class T, class Pack>
struct Wide {
    static constexpr int count = Elements<T, Pack>::count;
    reduce::Accumulator<T> at[count];

    __device__ static Wide of(const Pack& pack) {
        const auto elements = Elements<T, Pack>::of(pack);
        Wide wide;
#pragma unroll
        for (int i = 0; i < count; ++i) wide.at[i] = reduce::Element<T>::load(elements.at[i]);
        return wide;
    }
    template <class Operation>
    __device__ void combine(const Wide& other) {
#pragma unroll
        for (int i = 0; i < count; ++i) at[i] = Operation::combine(at[i], other.at[i]);
    }
    __device__ void add(std::int32_t reduction, const Pack& pack) {
        const Wide other = of(pack);
        with_operation(reduction, [&](auto operation) { combine<decltype(operation)>(other); });
    }
    template <class Finish>
    __device__ Pack finished_by(const Finish& finish) const {
        Elements<T, Pack> elements;
#pragma unroll
        for (int i = 0; i < count; ++i) elements.at[i] = finish.store(at[i]);
        return elements.pack();
    }
    /// Rounded once; divided before where `divisor` says so.
    __device__ Pack finished(std::int32_t divisor) const {
        using Divide = reduce::Divide<T>;
        if (divisor > 0) return finished_by(Divide{static_cast<decltype(Divide::divisor)>(divisor)});
        return finished_by(reduce::NoFinish<T>{});
    }
};

/// Calls f(operation, finish) for the reduction of this launch: one uniform branch in front of an unrolled
/// loop over packs.
template <class T, class F>
__device__ void with_reduction(std::int32_t reduction, std::int32_t divisor, F f) {
    using Divide = reduce::Divide<T>;
    switch (reduction) {
        case RINGSCOPE_PROD:
            return f(reduce::Prod{}, reduce::NoFinish<T>{});
        case RINGSCOPE_MIN:
            return f(reduce::Min{}, reduce::NoFinish<T>{});
        case RINGSCOPE_MAX:
            return f(reduce::Max{}, reduce::NoFinish<T>{});
        default:
            break;
    }
    if (divisor > 0) {
        f(reduce::Sum{}, Divide{static_cast<decltype(Divide::divisor)>(divisor)});
    } else {
        f(reduce::Sum{}, reduce::NoFinish<T>{});
    }
}

/// `bytes` of a user's buffer as a pack; element by element where the buffer is not aligned or ends here.
template <class T, class Pack>
__device__ Pack load_user(const std::byte* from, int bytes, bool aligned) {
    if (aligned && bytes == sizeof(Pack)) return *reinterpret_cast<const Pack*>(from);
    Elements<T, Pack> elements{};
#pragma unroll
    for (int i = 0; i < elements.count; ++i) {
        if (i * static_cast<int>(sizeof(T)) < bytes) elements.at[i] = reinterpret_cast<const T*>(from)[i];
    }
    return elements.pack();
}

template <class T, class Pack>
__device__ void store_user(std::byte* to, const Pack& pack, int bytes, bool aligned) {
    if (aligned && bytes == sizeof(Pack)) {
        *reinterpret_cast<Pack*>(to) = pack;
        return;
    }
    const auto elements = Elements<T, Pack>::of(pack);
#pragma unroll
    for (int i = 0; i < elements.count; ++i) {
        if (i * static_cast<int>(sizeof(T)) < bytes) reinterpret_cast<T*>(to)[i] = elements.at[i];
    }
}

}  // namespace ringscope::engine::cuda
