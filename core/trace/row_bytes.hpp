// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "trace/rows.hpp"

/// Rows as bytes, for the way to rank 0 and for spills. A field is written as its difference from the row
/// before, which makes an event of 184 bytes about 35.
namespace ringscope::trace {

/// Defined for every row type of rows.hpp; of a RunInfo the lists are left out, they are rows themselves.
template <typename Row>
[[nodiscard]] std::string to_bytes(std::span<const Row> rows);

/// Throws Error (output) where these are not the bytes of `count` rows.
template <typename Row>
[[nodiscard]] std::vector<Row> from_bytes(std::string_view bytes, std::int64_t count);

/// Rows with their number in front.
template <typename Row>
[[nodiscard]] std::string pack(const std::vector<Row>& rows) {
    ByteWriter bytes;
    bytes.number(rows.size());
    bytes.text(to_bytes(std::span{rows}));
    return bytes.take();
}

template <typename Row>
[[nodiscard]] std::vector<Row> unpack(const std::string& packed) {
    ByteReader bytes{packed};
    const auto count = static_cast<std::int64_t>(bytes.number());
    return from_bytes<Row>(bytes.text(), count);
}

}  // namespace ringscope::trace
