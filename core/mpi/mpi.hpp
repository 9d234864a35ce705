// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/types.hpp"

/// The wall around the MPI library: the only folder that includes mpi.h. Every call is on MPI_COMM_WORLD, and
/// all but send() and receive() are collective: every rank calls them in the same order. Errors of MPI end
/// the job (its default handler).
namespace ringscope::mpi {

/// MPI_Init_thread to MPI_Finalize.
class Session {
 public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
};

[[nodiscard]] int rank();
[[nodiscard]] int size();
/// Whether the process was started by an MPI launcher, not by hand.
[[nodiscard]] bool started_by_launcher();
[[nodiscard]] std::string library_version();  ///< "Open MPI v4.1.4, ..."

/// The ranks that share memory with this one, by MPI_Comm_split_type, in order.
[[nodiscard]] std::vector<int> ranks_sharing_memory();

void barrier();
/// The root's bytes, at all ranks.
void broadcast(std::string& bytes, int root);
/// Every rank's bytes, at all ranks.
[[nodiscard]] std::vector<std::string> all_gather(const std::string& bytes);
/// Every rank's bytes, at the root; nothing elsewhere. Any length: it travels in pieces.
[[nodiscard]] std::vector<std::string> gather(const std::string& bytes, int root);

/// A message to one rank, of at most 2^31 - 1 bytes.
void send(const std::string& bytes, int to);
[[nodiscard]] std::string receive(int from);

/// Whether MPI has this type and operation.
[[nodiscard]] bool can_reduce(DataType dtype, ReduceOp op);
/// MPI_Allreduce; MPI_IN_PLACE where both addresses are the same. At most 2^31 - 1 elements.
void all_reduce(const std::byte* input, std::byte* output, std::int64_t count, DataType dtype, ReduceOp op);

/// in_out = in combined with in_out, element by element.
using Combine = std::function<void(const std::byte* in, std::byte* in_out, std::int64_t count)>;

/// A reduction that MPI does not have, by MPI_Op_create: commutative, of elements of so many bytes.
class UserReduction {
 public:
    UserReduction(std::int64_t element_bytes, Combine combine);
    ~UserReduction();
    UserReduction(const UserReduction&) = delete;
    UserReduction& operator=(const UserReduction&) = delete;

    /// As all_reduce() above.
    void all_reduce(const std::byte* input, std::byte* output, std::int64_t count);

 private:
    struct Handles;
    std::unique_ptr<Handles> handles_;
    Combine combine_;
};

/// Ends the whole job with this exit code.
[[noreturn]] void abort(int code);

}  // namespace ringscope::mpi
