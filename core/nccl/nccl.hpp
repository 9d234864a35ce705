// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/types.hpp"
#include "bootstrap/bootstrap.hpp"
#include "nccl/group.hpp"
#include "nccl/scoped_environment.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it
struct ncclComm;

/// The wall around NCCL: the only folder that includes nccl.h. The library is opened at run time, so that the
/// program starts where there is none. All that fails throws Error, unusable_engine unless said otherwise.
namespace ringscope::nccl {

/// Whether NCCL can be used here; where not, `reason` says why and what to do.
[[nodiscard]] bool available(std::string& reason);
[[nodiscard]] std::string library_version();  ///< "2.28.9"
/// Whether this NCCL has symmetric windows (2.27 and newer).
[[nodiscard]] bool has_windows();
/// Why NCCL cannot reduce this type on the current device, or "". 8-bit floats came with NCCL 2.24, for GPUs
/// of compute capability 9.0 and newer.
[[nodiscard]] std::string missing_type(DataType dtype);
/// The same for a version of NCCL, 22809, and a compute capability, 90.
[[nodiscard]] std::string missing_type(DataType dtype, int version, int capability);

/// How a communicator is set up; "" and 0 leave the choice to NCCL.
struct Options {
    std::string algo;   ///< "ring", "tree"
    std::string proto;  ///< "ll", "ll128", "simple"
    std::int64_t min_ctas = 0, max_ctas = 0;
    friend auto operator<=>(const Options&, const Options&) = default;
};

/// The variables by which NCCL is told: it has no other way, and reads them when a communicator is created.
[[nodiscard]] Variables environment_for(const Options& options);

/// All ranks, one GPU each; ranks that are threads of one process make their calls as a Group. Its calls
/// block, as everybody's do: NCCL starts a thread for each operation of a communicator that does not, which
/// would be timed with it. So what may hang is bounded from outside.
class Communicator {
 public:
    /// On the current device. Throws AgreedError on all ranks where one fails or does not come.
    /// [collective]
    Communicator(bootstrap::Bootstrap& bootstrap, const Options& options, std::int64_t wait_ns);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    /// Enqueues; the very first call also connects the ranks. [collective, timed]
    void all_reduce(
        const std::byte* input, std::byte* output, std::int64_t count, DataType dtype, ReduceOp op,
        CUstream_st* stream
    );
    /// Throws what NCCL found wrong since, with a peer or its network.
    void check() const;
    /// Ends all that runs on the device. Nothing but the destructor may follow.
    void abort() noexcept;
    /// Not after abort(), nor once ranks of one process failed to come together.
    [[nodiscard]] bool usable() const;
    [[nodiscard]] ncclComm* handle() const { return handle_; }
    [[nodiscard]] std::int64_t wait_ns() const { return wait_ns_; }

 private:
    void create(const std::string& id, const Options& options, int size);

    std::int64_t wait_ns_;
    int rank_;
    int device_ = 0;
    std::shared_ptr<Group> group_;  ///< null where every rank is a process
    ncclComm* handle_ = nullptr;
};

/// Memory of the current device that can be registered as a window.
class Memory {
 public:
    explicit Memory(std::int64_t bytes);  ///< Throws out_of_memory with needed and free bytes.
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
    std::byte* data_ = nullptr;
    std::int64_t bytes_ = 0;
};

/// Memory of all ranks, of the same size, registered as a symmetric window of a communicator as long as this
/// lives; both must outlive it.
class Window {
 public:
    /// Throws where NCCL gives none. [collective]
    Window(Communicator& communicator, const Memory& memory);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

 private:
    Communicator& communicator_;
    void* window_ = nullptr;
};

}  // namespace ringscope::nccl
