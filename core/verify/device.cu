// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "verify/pack.hpp"
#include "verify/window.hpp"

namespace ringscope::verify {
namespace {

constexpr int warp_threads = 32, block_warps = 8, block_threads = warp_threads * block_warps;
/// Enough blocks to fill any GPU many times over, so few that their additions to one place do not queue up.
constexpr std::int64_t most_blocks = 8192;

/// What kernels find, all of it sums or maxima that begin with 0.
struct Found {
    unsigned long long differing, hash;
    unsigned long long damage;  ///< bytes from the first damaged one to the end of the region
};

/// A message as windows into a table.
struct Message {
    const std::uint32_t* table;  ///< readable for some bytes behind its end
    std::int64_t bytes;
    std::int32_t size;  ///< bytes of an element
    std::uint64_t seed;
};

// ---- Packs in memory. A Unit is the widest type for which the data are aligned: a Pack, or an element. ----

/// Up to eight bytes as a word, extended by zeros.
__device__ std::uint64_t load_bytes(const std::byte* from, std::int32_t count) {
    std::uint64_t word = 0;
    for (std::int32_t i = 0; i < min(count, 8); ++i) word |= std::uint64_t(from[i]) << (8 * i);
    return word;
}

__device__ void store_bytes(std::byte* to, std::uint64_t word, std::int32_t count) {
    for (std::int32_t i = 0; i < min(count, 8); ++i) to[i] = static_cast<std::byte>((word >> (8 * i)) & 0xff);
}

template <class Unit>
__device__ std::uint64_t load_word(const std::byte* from) {
    constexpr int parts = 8 / sizeof(Unit);
    std::uint64_t word = 0;
#pragma unroll
    for (int i = 0; i < parts; ++i) {
        word |= std::uint64_t{reinterpret_cast<const Unit*>(from)[i]} << (64 / parts * i);
    }
    return word;
}

template <class Unit>
__device__ void store_word(std::byte* to, std::uint64_t word) {
    constexpr int parts = 8 / sizeof(Unit);
#pragma unroll
    for (int i = 0; i < parts; ++i)
        reinterpret_cast<Unit*>(to)[i] = static_cast<Unit>(word >> (64 / parts * i));
}

/// The data are used once: they shall not drive the tables out of the cache.
template <class Unit>
__device__ Pack load_full(const std::byte* from) {
    if constexpr (std::is_same_v<Unit, Pack>) {
        const ulonglong2 words = __ldcs(reinterpret_cast<const ulonglong2*>(from));
        return {words.x, words.y};
    } else {
        return {load_word<Unit>(from), load_word<Unit>(from + 8)};
    }
}

template <class Unit>
__device__ void store_full(std::byte* to, const Pack& pack) {
    if constexpr (std::is_same_v<Unit, Pack>) {
        __stcs(reinterpret_cast<ulonglong2*>(to), ulonglong2{pack.low, pack.high});
    } else {
        store_word<Unit>(to, pack.low);
        store_word<Unit>(to + 8, pack.high);
    }
}

/// The pack at `from`, of which `bytes` belong to the message.
template <class Unit>
__device__ Pack load_pack(const std::byte* from, std::int32_t bytes) {
    if (bytes >= pack_bytes) return load_full<Unit>(from);
    return {load_bytes(from, bytes), load_bytes(from + 8, bytes - 8)};
}

template <class Unit>
__device__ void store_pack(std::byte* to, const Pack& pack, std::int32_t bytes) {
    if (bytes >= pack_bytes) {
        store_full<Unit>(to, pack);
    } else {
        store_bytes(to, pack.low, bytes);
        store_bytes(to + 8, pack.high, bytes - 8);
    }
}

/// Sixteen bytes of a table, from any byte on: the five aligned words that hold them, shifted together.
__device__ Pack load_window(const std::uint32_t* table, std::int32_t at) {
    const std::uint32_t shift = at % 4 * 8;
    std::uint32_t words[5];
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = __ldg(table + at / 4 + i);
    const auto shifted = [&](int i) { return std::uint64_t{__funnelshift_r(words[i], words[i + 1], shift)}; };
    return {shifted(0) | shifted(1) << 32, shifted(2) | shifted(3) << 32};
}

// ---- Kernels ----

/// Calls f(at, place, bytes) for each pack that this thread has of the message: its first byte, the byte of
/// the table that belongs there, and its length, a constant for all but the last. A warp takes a block of the
/// message, so that its threads share a window and move 512 bytes at once.
template <class F>
__device__ void for_each_pack(const Message& message, F&& f) {
    const std::int32_t lane = threadIdx.x % warp_threads;
    const std::int64_t warps = std::int64_t{gridDim.x} * block_warps;
    const std::int64_t first_block = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / warp_threads;
    const std::int64_t block_bytes = block_length * message.size;
    for (std::int64_t block = first_block; block * block_bytes < message.bytes; block += warps) {
        const std::int64_t first = block * block_bytes;
        const auto window = static_cast<std::int32_t>(window_of(block, message.seed)) * message.size;
        const auto length = static_cast<std::int32_t>(min(block_bytes, message.bytes - first));
        const std::int32_t full = length / pack_bytes * pack_bytes;
#pragma unroll 4
        for (std::int32_t at = lane * pack_bytes; at < full; at += warp_threads * pack_bytes) {
            f(first + at, window + at, pack_bytes);
        }
        if (lane == 0 && full < length) f(first + full, window + full, length - full);
    }
}

template <class Unit>
__global__ void __launch_bounds__(block_threads) fill_kernel(Message message, std::byte* out) {
    for_each_pack(message, [&](std::int64_t at, std::int32_t place, std::int32_t bytes) {
        store_pack<Unit>(out + at, load_window(message.table, place), bytes);
    });
}

/// Adds up a value of all threads of a warp and adds the sum to `to`.
__device__ void add_for_warp(unsigned long long* to, unsigned long long value) {
    for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    if (threadIdx.x % warp_threads == 0 && value != 0) atomicAdd(to, value);
}

template <class Unit>
__global__ void __launch_bounds__(block_threads)
    compare_kernel(Message message, const std::byte* data, Found* found) {
    unsigned long long differing = 0, hash = 0;
    for_each_pack(message, [&](std::int64_t at, std::int32_t place, std::int32_t bytes) {
        const Pack pack = load_pack<Unit>(data + at, bytes);
        const Pack right = first_bytes(load_window(message.table, place), bytes);
        differing += differing_elements(pack, right, message.size);
        hash += hash_share(pack, at);
    });
    add_for_warp(&found->differing, differing);
    add_for_warp(&found->hash, hash);
}

/// Calls f(index) for each byte of the guards, index counting from the begin of the region.
template <class F>
__device__ void for_each_guard_byte(const GuardLayout& layout, F&& f) {
    const std::int64_t threads = std::int64_t{gridDim.x} * block_threads;
    std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
    for (; i < layout.bytes_of_guards(); i += threads) f(layout.guard_index(i));
}

__global__ void __launch_bounds__(block_threads) restore_guards_kernel(DeviceRegion region) {
    for_each_guard_byte(region.layout, [&](std::int64_t index) { region.memory[index] = guard_at(index); });
}

__global__ void __launch_bounds__(block_threads) find_damage_kernel(DeviceRegion region, Found* found) {
    for_each_guard_byte(region.layout, [&](std::int64_t index) {
        if (region.memory[index] == guard_at(index)) return;
        atomicMax(&found->damage, static_cast<unsigned long long>(region.layout.total - index));
    });
}

// ---- Host ----

unsigned blocks_for(std::int64_t work, std::int64_t work_of_a_block) {
    const std::int64_t blocks = (work + work_of_a_block - 1) / work_of_a_block;
    return static_cast<unsigned>(std::min(blocks, most_blocks));
}

unsigned blocks_for(const Message& message) {
    return blocks_for(message.bytes, block_warps * block_length * message.size);
}

unsigned blocks_for(const DeviceRegion& region) {
    return blocks_for(region.layout.bytes_of_guards(), block_threads);
}

void check_launch() {
    cuda::check(cudaGetLastError(), "test data kernel");
}

/// Calls f with a value of the widest type for which the data are aligned.
template <class F>
void with_unit(const std::byte* data, std::int32_t size, F&& f) {
    if (reinterpret_cast<std::uintptr_t>(data) % pack_bytes == 0) return f(Pack{});
    if (size == 8) return f(std::uint64_t{});
    if (size == 4) return f(std::uint32_t{});
    if (size == 2) return f(std::uint16_t{});
    f(std::uint8_t{});
}

/// A copy on the device, with so many bytes behind it that a window's last pack may be read whole.
cuda::DeviceMemory upload(std::span<const std::byte> table, const cuda::Stream& stream) {
    constexpr std::size_t behind = 3 * pack_bytes;
    std::vector<std::byte> bytes{table.begin(), table.end()};
    bytes.resize((table.size() + behind) / pack_bytes * pack_bytes);
    cuda::DeviceMemory memory{static_cast<std::int64_t>(bytes.size())};
    cuda::copy_to_device(memory.data(), bytes.data(), memory.bytes(), stream);
    stream.synchronize();
    return memory;
}

bool takes_part(const Pattern& pattern, int rank) {
    return !pattern.input_table(rank).empty();
}

/// Of a rank that takes no part: its input is poison, and its output stays so.
cuda::DeviceMemory upload_poison(const Pattern& pattern, const cuda::Stream& stream) {
    return upload(std::vector(pattern.expected_table().size(), std::byte{0xff}), stream);
}

cuda::DeviceMemory upload_input(const Pattern& pattern, int rank, const cuda::Stream& stream) {
    if (!takes_part(pattern, rank)) return upload_poison(pattern, stream);
    return upload(pattern.input_table(rank), stream);
}

cuda::DeviceMemory upload_expected(const Pattern& pattern, int rank, const cuda::Stream& stream) {
    if (!takes_part(pattern, rank)) return upload_poison(pattern, stream);
    return upload(pattern.expected_table(), stream);
}

Message message_of(
    const cuda::DeviceMemory& table, std::int64_t count, std::int32_t size, std::uint64_t seed
) {
    return {reinterpret_cast<const std::uint32_t*>(table.data()), count * size, size, seed};
}

/// Runs a kernel that adds to `device`, and gives what it found.
template <class Launch>
Found find(
    const cuda::DeviceMemory& device, const cuda::PinnedMemory& host, const cuda::Stream& stream,
    Launch launch
) {
    auto* const found = reinterpret_cast<Found*>(device.data());
    cuda::zero(device.data(), sizeof(Found), stream);
    launch(found);
    check_launch();
    cuda::copy_to_host(host.data(), device.data(), sizeof(Found), stream);
    stream.synchronize();
    return *reinterpret_cast<const Found*>(host.data());
}

}  // namespace

DevicePattern::DevicePattern(const Pattern& pattern, int rank, const cuda::Stream& stream)
    : stream_{stream},
      size_{static_cast<std::int32_t>(size_of(pattern.dtype()))},
      input_{upload_input(pattern, rank, stream)},
      expected_{upload_expected(pattern, rank, stream)},
      found_{sizeof(Found)},
      result_{sizeof(Found)} {}

void DevicePattern::fill(std::byte* out, std::int64_t count, std::uint64_t seed) const {
    if (count <= 0) return;
    const Message message = message_of(input_, count, size_, seed);
    with_unit(out, size_, [&](auto unit) {
        fill_kernel<decltype(unit)><<<blocks_for(message), block_threads, 0, stream_.get()>>>(message, out);
    });
    check_launch();
    stream_.synchronize();
}

void DevicePattern::poison(std::byte* out, std::int64_t bytes) const {
    if (bytes <= 0) return;
    cuda::check(
        cudaMemsetAsync(out, 0xff, static_cast<std::size_t>(bytes), stream_.get()), "cudaMemsetAsync"
    );
    stream_.synchronize();
}

void DevicePattern::restore_guards(const DeviceRegion& region) const {
    restore_guards_kernel<<<blocks_for(region), block_threads, 0, stream_.get()>>>(region);
    check_launch();
    stream_.synchronize();
}

DeviceFinding DevicePattern::compare(
    const cuda::DeviceMemory& table, const std::byte* data, std::int64_t count, std::uint64_t seed
) const {
    if (count <= 0) return {};
    const Message message = message_of(table, count, size_, seed);
    const Found found = find(found_, result_, stream_, [&](Found* to) {
        with_unit(data, size_, [&](auto unit) {
            compare_kernel<decltype(unit)>
                <<<blocks_for(message), block_threads, 0, stream_.get()>>>(message, data, to);
        });
    });
    return {static_cast<std::int64_t>(found.differing), found.hash};
}

DeviceFinding DevicePattern::check_output(const std::byte* got, std::int64_t count, std::uint64_t seed)
    const {
    return compare(expected_, got, count, seed);
}

std::int64_t DevicePattern::check_input(const std::byte* input, std::int64_t count, std::uint64_t seed)
    const {
    return compare(input_, input, count, seed).differing;
}

std::optional<std::int64_t> DevicePattern::first_damage(const DeviceRegion& region) const {
    const Found found = find(found_, result_, stream_, [&](Found* to) {
        find_damage_kernel<<<blocks_for(region), block_threads, 0, stream_.get()>>>(region, to);
    });
    if (found.damage == 0) return std::nullopt;
    return region.layout.total - static_cast<std::int64_t>(found.damage) - region.layout.front;
}

}  // namespace ringscope::verify
