// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/types.hpp"
#include "engine/collective.hpp"

namespace ringscope::baseline {

/// Baseline `mpi`: MPI_Allreduce as the library has it. Opaque: its traffic and events are not observable.
/// What MPI lacks is added in the usual way and timed with the rest: 16-bit floats by an operation of the
/// user's (summed in 32 bits, rounded once per combination), an average by a sum that every rank divides.
struct Mpi {
    static constexpr const char* id = "mpi";
    static constexpr const char* description = "MPI_Allreduce of the MPI library; traffic not observable";

    /// Why this case cannot run, or "": MPI has no floats of 8 bits, and counts in 31 bits.
    [[nodiscard]] static std::string unsupported(DataType dtype, ReduceOp op, std::int64_t count);
    /// "user op" for what MPI alone does not have; else "".
    [[nodiscard]] static std::string addition(DataType dtype, ReduceOp op);
    [[nodiscard]] static std::unique_ptr<engine::Collective> prepare(
        DataType dtype, ReduceOp op, std::int64_t count, std::int32_t ranks
    );
};

}  // namespace ringscope::baseline
