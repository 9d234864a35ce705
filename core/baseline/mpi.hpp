// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/types.hpp"
#include "bootstrap/bootstrap.hpp"
#include "engine/collective.hpp"

namespace ringscope::baseline {

/// Baseline `mpi`: MPI_Allreduce as the library has it. Opaque: its traffic and events are not observable.
struct Mpi {
    static constexpr const char* id = "mpi";
    static constexpr const char* description = "MPI_Allreduce of the MPI library; traffic not observable";

    /// Why this case cannot run, or "": MPI has no floats of 8 or 16 bits and no average, and counts in 31
    /// bits.
    [[nodiscard]] static std::string unsupported(DataType dtype, ReduceOp op, std::int64_t count);
    [[nodiscard]] static std::unique_ptr<engine::Collective> prepare(
        DataType dtype, ReduceOp op, std::int64_t count
    );
};

}  // namespace ringscope::baseline
