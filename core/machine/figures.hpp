// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "trace/rows.hpp"

namespace ringscope::machine {

/// What a transfer of so many bytes from one rank to another takes at best. Rates in byte/s.
struct LinkFigure {
    std::int32_t src = 0, dst = 0;
    std::int64_t bytes = 0;
    std::int64_t latency_ns = trace::not_available;
    double bandwidth = trace::nan, copy_engine_bandwidth = trace::nan;
};

/// The rate at which a rank adds two local buffers of so many bytes, in bytes of the result per second.
struct ReductionFigure {
    std::int64_t bytes = 0;
    double rate = trace::nan;
};

/// What one rank has measured.
struct Figures {
    std::vector<LinkFigure> links;
    std::vector<ReductionFigure> reductions;
};

/// The figures of all ranks as rows of /machine, ordered by src, dst and size, at rank 0; nothing elsewhere.
/// The reduction rate of a row is that of the rank that receives. [collective]
[[nodiscard]] std::vector<trace::MachineRow> gather_rows(
    bootstrap::Bootstrap& bootstrap, const std::string& engine, const Figures& mine
);

}  // namespace ringscope::machine
