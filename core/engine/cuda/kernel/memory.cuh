// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/kernel/line_128.hpp"

// Accesses to memory that other ranks read or write at the same time, by their meaning.
namespace ringscope::engine::cuda {

/// Steps of 32 ns on Hopper, of 1 us before it. Volatile and with a clobber: it stays where it is written.
__device__ inline std::int64_t global_ns() {
    std::int64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

/// Until all that the kernel before wrote is there. Both are for kernels that were launched to begin before
/// the one before them ends, and nothing for others.
__device__ inline void await_previous_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Brings what lies there into the L1 cache: a load that nothing waits for.
__device__ inline void prefetch_user(const uint2* from) {
    asm volatile("{.reg .u32 unused<2>; ld.global.v2.u32 {unused0, unused1}, [%0];}" ::"l"(from) : "memory");
}

/// A counter that another rank posts: what was written before the post is seen by what follows.
__device__ inline std::uint64_t load_acquire(const std::uint64_t* counter) {
    std::uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(counter) : "memory");
    return value;
}

/// The same where nothing is read on the strength of it but what carries flags of its own.
__device__ inline std::uint64_t load_relaxed(const std::uint64_t* counter) {
    std::uint64_t value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(counter) : "memory");
    return value;
}

__device__ inline void store_relaxed(std::uint64_t* counter, std::uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(counter), "l"(value) : "memory");
}

__device__ inline void fence_system() {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/// Slots are rewritten while a kernel runs, so their loads must not be served by the L1 cache.
__device__ inline uint4 load_slot(const uint4* from) {
    uint4 v;
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

/// One line of LL, stored whole: each half of 8 bytes carries a flag of its own.
__device__ inline void store_line(uint4* to, uint4 v) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z),
                 "r"(v.w)
                 : "memory");
}

__device__ inline std::uint32_t low32(std::uint64_t v) {
    return static_cast<std::uint32_t>(v);
}
__device__ inline std::uint32_t high32(std::uint64_t v) {
    return static_cast<std::uint32_t>(v >> 32);
}
__device__ inline std::uint64_t both(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{high} << 32 | low;
}

/// A lane's words of a line of LL128. The whole warp loads in one instruction; where a line is not `there`,
/// its eight lanes are masked off together.
__device__ inline Words load_words(const Words* from, bool there) {
    std::uint64_t low = 0, high = 0;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p ld.volatile.global.v2.u64 {%0,%1}, [%2];}"
                 : "+l"(low), "+l"(high)
                 : "l"(from), "r"(there ? 1u : 0u)
                 : "memory");
    return {low32(low), high32(low), low32(high), high32(high)};
}

/// The whole warp stores in one instruction, or a line would not arrive as one.
__device__ inline void store_words(Words* to, const Words& v, bool there) {
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p st.volatile.global.v2.u64 [%0], {%1,%2};}" ::"l"(to
                 ),
                 "l"(both(v.at[0], v.at[1])), "l"(both(v.at[2], v.at[3])), "r"(there ? 1u : 0u)
                 : "memory");
}

}  // namespace ringscope::engine::cuda
