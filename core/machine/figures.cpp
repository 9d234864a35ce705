// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/figures.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace ringscope::machine {
namespace {

/// Plain values as bytes, for the way to rank 0 of the same program.
template <class Value>
std::string pack(const std::vector<Value>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

template <class Value>
std::vector<Value> unpack(const std::string& bytes) {
    std::vector<Value> values(bytes.size() / sizeof(Value));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

double rate_at(const std::vector<ReductionFigure>& figures, std::int64_t bytes) {
    const auto found = std::ranges::find(figures, bytes, &ReductionFigure::bytes);
    return found == figures.end() ? trace::nan : found->rate;
}

}  // namespace

std::vector<trace::MachineRow> gather_rows(
    bootstrap::Bootstrap& bootstrap, const std::string& engine, const Figures& mine
) {
    const std::vector<std::string> links = bootstrap.gather(pack(mine.links), 0);
    const std::vector<std::string> reductions = bootstrap.gather(pack(mine.reductions), 0);
    std::vector<trace::MachineRow> rows;
    for (const std::string& of_rank : links) {
        for (const LinkFigure& link : unpack<LinkFigure>(of_rank)) {
            const auto reduced = unpack<ReductionFigure>(reductions[static_cast<std::size_t>(link.dst)]);
            rows.push_back(
                {.engine = engine,
                 .src = link.src,
                 .dst = link.dst,
                 .bytes = link.bytes,
                 .latency_ns = link.latency_ns,
                 .bandwidth = link.bandwidth,
                 .copy_engine_bandwidth = link.copy_engine_bandwidth,
                 .reduction_rate = rate_at(reduced, link.bytes)}
            );
        }
    }
    std::ranges::sort(rows, {}, [](const trace::MachineRow& r) { return std::tuple{r.src, r.dst, r.bytes}; });
    return rows;
}

}  // namespace ringscope::machine
