// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <vector>

#include "cuda/cuda.hpp"
#include "engine/cuda/kernel/memory.cuh"
#include "engine/cuda/preflight.hpp"

namespace ringscope::engine::cuda {
namespace {

constexpr int most_peers = 64, threads = 256;
constexpr int words = 8192;  ///< of 8 bytes, per pair
constexpr std::int64_t announced_at = 0, read_at = 128, data_at = 256;
constexpr std::int64_t region_bytes = data_at + words * 8;

/// A misplaced word lands so many words further.
constexpr int astray = 16;

struct Preflight {
    std::byte* memory[most_peers];  ///< of each rank
    int ranks, rank;
    std::int64_t wait_ns;
    PeerLie::Kind lies[most_peers];  ///< to each peer
    PairFinding* findings;           ///< one per peer, in memory of the host
};

/// A number that says where it belongs.
__device__ std::uint64_t expected(int src, int dst, int word) {
    return (std::uint64_t{0x9e3779b97f4a7c15} ^ (static_cast<std::uint64_t>(src) << 48) ^
            (static_cast<std::uint64_t>(dst) << 32)) +
           static_cast<std::uint64_t>(word) * 0x100000001b3;
}

/// Where `dst` has what `src` writes.
__device__ std::byte* region(const Preflight& p, int dst, int src) {
    return p.memory[dst] + src * region_bytes;
}

__device__ std::uint64_t* word_at(std::byte* region, std::int64_t offset) {
    return reinterpret_cast<std::uint64_t*>(region + offset);
}

__device__ bool await(const std::uint64_t* flag, std::int64_t wait_ns) {
    const std::int64_t since = global_ns();
    while (load_acquire(flag) != 1) {
        if (global_ns() - since > wait_ns) return false;
    }
    return true;
}

__device__ bool holds(std::byte* data, int src, int dst) {
    bool right = true;
    for (int i = static_cast<int>(threadIdx.x); i < words; i += threads) {
        const auto got = *reinterpret_cast<volatile std::uint64_t*>(data + data_at + std::int64_t{8} * i);
        right = right && got == expected(src, dst, i);
    }
    return __syncthreads_and(right) != 0;
}

/// All threads of a block get thread 0's answer.
__device__ bool await_all(const std::uint64_t* flag, std::int64_t wait_ns) {
    return __syncthreads_or(threadIdx.x == 0 && await(flag, wait_ns)) != 0;
}

__device__ void write_words(std::byte* there, int rank, int peer, PeerLie::Kind lie) {
    if (lie == PeerLie::Kind::dropped) return;
    const int shift = lie == PeerLie::Kind::misplaced ? astray : 0;
    for (int i = static_cast<int>(threadIdx.x); i < words; i += threads) {
        const std::uint64_t word = expected(rank, peer, i) + (lie == PeerLie::Kind::altered ? 1 : 0);
        *word_at(there, data_at + std::int64_t{8} * ((i + shift) % words)) = word;
    }
}

__device__ void announce(std::uint64_t* flag, PeerLie::Kind lie) {
    __syncthreads();
    if (threadIdx.x != 0 || lie == PeerLie::Kind::dropped) return;
    fence_system();
    store_relaxed(flag, 1);
}

/// One block per peer.
__global__ void __launch_bounds__(threads) check_pairs(const __grid_constant__ Preflight p) {
    const int peer = static_cast<int>(blockIdx.x);
    if (peer == p.rank) return;
    std::byte* there = region(p, peer, p.rank);
    std::byte* here = region(p, p.rank, peer);
    const PeerLie::Kind lie = p.lies[peer];
    write_words(there, p.rank, peer, lie);
    announce(word_at(there, announced_at), lie);
    PairFinding finding = PairFinding::fine;
    if (!await_all(word_at(here, announced_at), p.wait_ns)) {
        finding = PairFinding::silent;
    } else if (!holds(here, peer, p.rank)) {
        finding = PairFinding::wrong_data;
    } else if (!holds(there, p.rank, peer)) {
        finding = PairFinding::wrong_read;
    }
    // Nobody leaves, and frees memory, while the other may still read. A peer that heard nothing waits for
    // the whole time before it comes here.
    announce(word_at(there, read_at), lie);
    if (!await_all(word_at(here, read_at), 2 * p.wait_ns) && finding == PairFinding::fine)
        finding = PairFinding::silent;
    if (threadIdx.x == 0) p.findings[peer] = finding;
}

/// A rank's findings as bytes for the others, and the inverse.
std::string pack(const PairFinding* findings, int ranks) {
    std::string bytes;
    for (int peer = 0; peer < ranks; ++peer) bytes += static_cast<char>(findings[peer]);
    return bytes;
}

std::vector<PairFinding> unpack(const std::string& bytes) {
    std::vector<PairFinding> findings;
    for (const char byte : bytes) findings.push_back(static_cast<PairFinding>(byte));
    return findings;
}

}  // namespace

std::int64_t preflight_bytes(int ranks) {
    return ranks * region_bytes;
}

std::string preflight(
    bootstrap::Bootstrap& bootstrap, const std::vector<std::byte*>& memory, std::int64_t wait_ns,
    const PeerLie& lie
) {
    // Memory and streams are there before any rank's kernel waits for another's.
    std::optional<ringscope::cuda::PinnedMemory> findings;
    std::optional<ringscope::cuda::Stream> stream;
    bootstrap::agree(bootstrap, [&] {
        if (bootstrap.size() > most_peers) throw Error{ExitCode::unusable_engine, "too many ranks"};
        findings.emplace(most_peers * static_cast<std::int64_t>(sizeof(PairFinding)));
        stream.emplace();
    });
    std::string found;
    bootstrap::agree(bootstrap, [&] {
        Preflight p{};
        for (int rank = 0; rank < bootstrap.size(); ++rank) {
            p.memory[rank] = memory[static_cast<std::size_t>(rank)];
            p.lies[rank] = lie.concerns(bootstrap.rank(), rank) ? lie.kind : PeerLie::Kind::none;
        }
        p.ranks = bootstrap.size();
        p.rank = bootstrap.rank();
        p.wait_ns = wait_ns;
        p.findings = reinterpret_cast<PairFinding*>(findings->data());
        check_pairs<<<bootstrap.size(), threads, 0, stream->get()>>>(p);
        ringscope::cuda::check(cudaGetLastError(), "cannot launch the preflight kernel");
        stream->synchronize();
        found = pack(p.findings, bootstrap.size());
    });
    std::vector<std::vector<PairFinding>> all;
    for (const std::string& bytes : bootstrap.all_gather(found)) all.push_back(unpack(bytes));
    return verdict(all);
}

}  // namespace ringscope::engine::cuda
