// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "clock/line.hpp"
#include "engine/collective.hpp"
#include "engine/cuda/verdict.hpp"
#include "engine/host/control.hpp"
#include "schedule/plan.hpp"

namespace ringscope::engine::cuda {

/// The engines on GPUs: who plays a rank's program, and where its connections lie.
///
/// p2p          one kernel per rank, in the GPUs' own memory, which the ranks map
/// staged       the same kernel, or copy engines that streams drive, in page-locked memory of the host: works
///              where GPUs do not reach each other
/// host_driven  the host, with a kernel for each part; slots in the sender's GPU memory where it can be
/// mapped,
///              else in memory of the host: any number of ranks per GPU
enum class GpuEngine : std::int8_t { p2p, staged, host_driven };

[[nodiscard]] constexpr const char* name_of(GpuEngine engine) {
    if (engine == GpuEngine::staged) return "cuda-staged";
    return engine == GpuEngine::p2p ? "cuda-p2p" : "cuda-host-driven";
}

/// What is left out of the host-driven loop, for tests that demand that the verifier finds it.
enum class LoopFault : std::int8_t {
    none,
    unpublished,    ///< the part is announced but never copied into the slot
    unsynchronised  ///< announced before the kernel that copies it is done; rank 0's comes late
};

/// A test's kernels, which count the bytes that their threads store, and the device memory where: a number
/// per channel and end of the layout.
struct CountingKernels {
    const void* low_latency = nullptr;
    const void* low_latency_128 = nullptr;
    const void* simple = nullptr;
    std::uint64_t* counted = nullptr;
};

struct CudaOptions {
    std::int64_t wait_ns = 10'000'000'000;  ///< how long an op waits for a peer
    bool allow_shared_gpu = false;          ///< ranks of several processes may share a GPU
    bool oversubscribed = false;     ///< ranks share cores: who waits on the host yields and sleeps early
    std::uint64_t first_number = 0;  ///< messages that count as sent before; tests begin near a wrap
    CountingKernels counting{};      ///< a test: played instead of the untraced kernels
    PeerLie peer_lie{};              ///< a test: what arrives in a peer's GPU is not what was sent
    LoopFault loop_fault = LoopFault::none;
    clock::Line host_clock{};  ///< of this rank
};

/// The GPU of a rank.
struct Gpu {
    int index = 0;  ///< as the rank's process counts
    std::string name, uuid, pci_id;
    int multiprocessors = 0;
    bool memory_ops = false;  ///< its streams can wait for counters in memory
    bool overlaps = false;    ///< its kernels can begin before the ones before them end
};

/// 13.0 is 13000; 0 where there is none.
struct CudaVersions {
    int driver = 0, runtime = 0;
};

/// What a program takes where nothing is asked for: by measurement (docs/performance-notes.md).
struct Defaults {
    std::int32_t channels = 1;
    std::int64_t slots = 8, slot_bytes = 65536;
    schedule::Direct direct = schedule::Direct::none;  ///< with Simple
};

struct CaseRequest {
    GpuEngine engine = GpuEngine::p2p;
    const schedule::Plan* plan = nullptr;  ///< null for a single rank
    bool copy_engines = false;             ///< staged: they move the data, and no kernel waits
    DataType dtype = DataType::float32;
    ReduceOp op = ReduceOp::sum;
    Mode mode = Mode::isolated;
    std::int64_t bytes = 0;       ///< of the message
    std::int64_t user_bytes = 0;  ///< of all user buffers with their guards
    std::int32_t threads = 0;     ///< per block that copy; 0: chosen by size
};

struct PreparedOnGpu {
    std::unique_ptr<Collective> collective;
    std::byte* user_memory = nullptr;  ///< of the size that was asked for, aligned to 4096 bytes
    std::int64_t empty_ns = 0;         ///< time of an empty kernel in this mode
};

/// What a case got of the ground: where each rank's connections are, as this rank's GPU sees them, and this
/// rank's user buffers.
struct Place {
    std::vector<std::byte*> connections;
    std::byte* user = nullptr;
};

/// Steps of the cold start, in ns; -1 where there was none.
struct ColdSteps {
    std::int64_t first_launch_ns = -1;  ///< a kernel that does nothing, from its launch until it has ended
    std::int64_t ipc_open_ns = -1;      ///< opening the memory of peers, up to now
};

/// Why an engine cannot be used here; an empty reason: it can.
struct Refusal {
    ExitCode code = ExitCode::ok;
    std::string reason;
};

/// The GPUs of the ranks, and the engines that play on them. The ranks are processes with a GPU each, or
/// threads of one process that share the GPUs at hand. In a build without CUDA the constructor throws.
class CudaEngine {
 public:
    /// "" where each rank has a GPU of its own and there are two or more; else why no engine of these is what
    /// `auto` means here. [collective]
    [[nodiscard]] static std::string unsuitable(bootstrap::Bootstrap& bootstrap);

    // Engine cuda-p2p; the others are in engine/catalogue.hpp.
    [[nodiscard]] static bool has(Protocol protocol);
    /// Throws Error (unusable_engine) for a protocol that this engine does not have.
    [[nodiscard]] static schedule::LinkFormat format(Protocol protocol);
    /// For chunks of so many bytes.
    [[nodiscard]] static Defaults defaults(
        Protocol protocol, std::int64_t chunk_bytes, std::int32_t most_channels
    );

    /// Takes a GPU and maps the control page. [collective] Throws AgreedError: usage for ranks of several
    /// processes on one GPU, unusable_engine, out_of_memory.
    CudaEngine(bootstrap::Bootstrap& bootstrap, host::Control& control, const CudaOptions& options);
    ~CudaEngine();
    CudaEngine(const CudaEngine&) = delete;
    CudaEngine& operator=(const CudaEngine&) = delete;

    /// Why an engine cannot be used here, the same on all ranks. The first time every ordered pair of ranks
    /// writes, reads back and verifies, by kernels, through the memory that the engine uses. [collective]
    [[nodiscard]] const Refusal& refusal(GpuEngine engine);

    /// Whether the streams of all GPUs can play copy engines' work, and no ranks of one process share a GPU.
    [[nodiscard]] bool has_copy_engines() const;

    /// Makes an all-reduce ready; what was prepared before must be gone. [collective] Throws AgreedError,
    /// also for an engine that cannot be used here.
    [[nodiscard]] PreparedOnGpu prepare(const CaseRequest& request);

    /// Memory of the kind in which an engine lets ranks meet, so many bytes of each rank, zeroed, and `user`
    /// bytes of this rank's GPU. [collective] Ends what was prepared before, and is taken by what is prepared
    /// next. Throws AgreedError, also for an engine that cannot be used here.
    [[nodiscard]] Place reserve(GpuEngine engine, std::int64_t shared, std::int64_t user);

    /// Lets go of the peers' memory, so that every rank may free its own. Nothing can be prepared afterwards.
    /// [collective]
    void close();

    [[nodiscard]] const std::vector<Gpu>& gpus() const;  ///< of all ranks
    /// Why the links between these GPUs cannot carry a protocol, the same on all ranks; "" where they can.
    [[nodiscard]] std::string unsupported(Protocol protocol) const;
    /// Channels for which the kernels of all ranks are resident together, a block per multiprocessor.
    [[nodiscard]] std::int32_t most_channels() const;
    /// Questions of this rank's host to the clock of its GPU, now.
    [[nodiscard]] std::vector<clock::Exchange> ask_clock() const;
    [[nodiscard]] ColdSteps cold_steps() const;
    [[nodiscard]] static CudaVersions versions();
    /// NUMA nodes of all ranks' windows in memory of the host, -1 where not known; none where no engine that
    /// uses them was asked for. [collective]
    [[nodiscard]] std::vector<std::int32_t> staged_numa_nodes() const;

    struct State;

 private:
    std::unique_ptr<State> state_;
};

}  // namespace ringscope::engine::cuda
