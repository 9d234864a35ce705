// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/rows.hpp"

/// The schema as data: which columns a group has, and how a row becomes the cells of each.
namespace ringscope::trace {

enum class CellType : std::uint8_t { int32, int64, uint8, uint64, float64, text };

struct ColumnSpec {
    std::string name;
    CellType type = CellType::int64;
    std::size_t width = 8;  ///< bytes of one cell; for text its fixed length
    std::string units, long_name;
    std::vector<std::string> flags;  ///< what the values 0, 1, ... mean, for an enumeration
};

template <typename Row>
struct Column {
    ColumnSpec spec;
    std::function<void(const std::vector<Row>& rows, std::byte* cells)> pack;
};

template <typename Row>
using Columns = std::vector<Column<Row>>;

[[nodiscard]] Columns<CaseRow> case_columns();
[[nodiscard]] Columns<SampleRow> sample_columns(std::int64_t epoch_ns);
[[nodiscard]] Columns<EventRow> event_columns(std::int64_t epoch_ns);
[[nodiscard]] Columns<TrafficRow> traffic_columns();
[[nodiscard]] Columns<ColdRow> cold_columns();
[[nodiscard]] Columns<ClockRow> clock_columns(std::int64_t epoch_ns);
[[nodiscard]] Columns<HealthRow> health_columns(std::int64_t epoch_ns);
[[nodiscard]] Columns<ClockExchangeRow> clock_exchange_columns();
[[nodiscard]] Columns<MachineRow> machine_columns();

/// Texts of the environment are as wide as the longest one of the run, so that nothing is cut.
[[nodiscard]] Columns<RankEnvironment> rank_columns(const std::vector<RankEnvironment>& ranks);
[[nodiscard]] Columns<Fact> fact_columns(const std::vector<Fact>& facts);

/// At most `width` bytes of a UTF-8 text, never half a character; what was cut ends in "...".
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

}  // namespace ringscope::trace
