// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "cuda/cuda.hpp"
#include "engine/cuda/engine.hpp"
#include "engine/cuda/staged_window.hpp"
#include "transport/arena.hpp"

namespace ringscope::engine::cuda {

struct GroundOptions {
    std::int64_t wait_ns = 0;
    std::uint64_t first_number = 0;
    PeerLie peer_lie{};
};

/// The memory in which ranks meet: the GPUs' own, mapped by their peers, and the host's, mapped by all GPUs.
/// Which of the two works here is found out when it is first asked for.
class Ground {
 public:
    Ground(bootstrap::Bootstrap& bootstrap, std::vector<int> devices, const GroundOptions& options)
        : bootstrap_{bootstrap},
          options_{options},
          arena_{bootstrap, std::move(devices)},
          windows_{bootstrap} {}

    /// Why an engine cannot be used, the same on all ranks; host_driven takes peers' memory where it can, and
    /// the host's where not. [collective]
    [[nodiscard]] const Refusal& refusal(GpuEngine engine);

    /// Room for a case, and its connections emptied. [collective] Throws AgreedError.
    [[nodiscard]] Place reserve(GpuEngine engine, std::int64_t connections, std::int64_t user);

    /// Lets go of the peers' memory. [collective]
    void close() { arena_.close(); }

    [[nodiscard]] std::int64_t open_ns() const { return arena_.open_ns(); }

    [[nodiscard]] const StagedWindows& windows() const { return windows_; }
    /// Of all ranks' windows; none where they were not asked for. [collective]
    [[nodiscard]] std::vector<std::int32_t> numa_nodes() const;

 private:
    [[nodiscard]] const Refusal& peers();
    [[nodiscard]] const Refusal& staged();
    [[nodiscard]] std::string try_peers();
    [[nodiscard]] std::string try_staged();
    [[nodiscard]] bool lies_in_arena(GpuEngine engine);
    void clear_arena(std::int64_t bytes);
    void clear_window(std::int64_t bytes);
    [[nodiscard]] std::vector<std::byte*> in_arenas() const;
    [[nodiscard]] std::vector<std::byte*> in_windows() const;

    bootstrap::Bootstrap& bootstrap_;
    GroundOptions options_;
    transport::Arena arena_;
    StagedWindows windows_;
    std::optional<Refusal> peers_, staged_;
};

}  // namespace ringscope::engine::cuda
