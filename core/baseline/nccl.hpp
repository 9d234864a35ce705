// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/types.hpp"
#include "bootstrap/bootstrap.hpp"
#include "config/experiment.hpp"
#include "engine/collective.hpp"

namespace ringscope::baseline {

/// Baseline `nccl`: ncclAllReduce as the library has it. Opaque: its traffic and events are not observable.
/// Parameters: algo (ring, tree), proto (ll, ll128, simple), window (symmetric), min_ctas, max_ctas.
struct Nccl {
    static constexpr const char* id = "nccl";
    static constexpr const char* description = "ncclAllReduce of NVIDIA's library; traffic not observable";

    /// Why this case cannot run here, or "": no CUDA in the build, fewer GPUs than ranks on this host, no
    /// such parameter, an 8-bit float that this NCCL or the current GPU does not reduce. NCCL has all other
    /// types and all operations, and counts in 64 bits. That NCCL itself is missing is an error, and
    /// NcclBaseline's to throw.
    [[nodiscard]] static std::string unsupported(
        const AlgorithmChoice& choice, DataType dtype, ReduceOp op, std::int64_t count,
        std::int64_t local_ranks = 1
    );
    /// Whether a result on exact data is not exact: NCCL multiplies floats by 1/N before it sums them, where
    /// we divide the sum, and 1/N is rounded unless N is a power of two.
    [[nodiscard]] static bool rounds_factor(DataType dtype, ReduceOp op, std::int32_t ranks);
    [[nodiscard]] static std::string version();  ///< "2.28.9"; "" where there is no NCCL
};

/// An all-reduce of NCCL, made ready.
struct PreparedNccl {
    std::unique_ptr<engine::Collective> collective;
    /// What NCCL chose, "ring ll 4 channels", as it told at the first sample or when the graph was recorded;
    /// "" where not observable: before that, with symmetric kernels, with NCCL before 2.27, or where
    /// NCCL_PROFILER_PLUGIN is set. To be called while the collective lives.
    std::function<std::string()> chosen;
};

/// What the cases of `nccl` share: a communicator for each set of parameters, kept, since it takes a second
/// to make one. The caller's device is current at every call; collectives must not outlive this.
class NcclBaseline {
 public:
    /// Throws unusable_engine where there is no NCCL. [collective]
    NcclBaseline(bootstrap::Bootstrap& bootstrap, std::int64_t wait_ns);
    ~NcclBaseline();
    NcclBaseline(const NcclBaseline&) = delete;
    NcclBaseline& operator=(const NcclBaseline&) = delete;

    /// A sample that makes no progress for `wait_ns` and a second is aborted, and throws timeout.
    /// [collective]
    [[nodiscard]] PreparedNccl prepare(
        const AlgorithmChoice& choice, DataType dtype, ReduceOp op, std::int64_t count, Mode mode
    );
    /// Memory for the user buffers of window=symmetric, registered with the communicator of this choice. All
    /// ranks ask for the same, and lay their buffers out alike. It lives until more is asked for.
    /// [collective]
    [[nodiscard]] std::byte* symmetric_memory(const AlgorithmChoice& choice, std::int64_t bytes);
    /// What making communicators has taken so far, in ns; -1: none was made.
    [[nodiscard]] std::int64_t init_ns() const;

 private:
    class Communicators;
    std::unique_ptr<Communicators> communicators_;
    std::int64_t wait_ns_;
};

}  // namespace ringscope::baseline
