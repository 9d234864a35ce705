// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ringscope::schedule {

/// A contiguous part of a message, in bytes.
struct Range {
    std::int64_t begin = 0;
    std::int64_t size = 0;
    friend bool operator==(const Range&, const Range&) = default;
};

/// Cuts are made in units of 16 bytes: every part begins aligned for vectors and holds whole elements of any
/// type.
inline constexpr std::int64_t cut_unit = 16;

/// Part `index` of `whole` cut into `parts`, balanced in units of 16 bytes: earlier parts get the odd units,
/// the last part the tail of fewer than 16 bytes.
[[nodiscard]] constexpr Range cut(Range whole, std::int64_t parts, std::int64_t index) {
    const std::int64_t units = whole.size / cut_unit, each = units / parts, odd = units % parts;
    const std::int64_t begin = index * each + std::min(index, odd);
    const std::int64_t tail = index == parts - 1 ? whole.size % cut_unit : 0;
    return {whole.begin + begin * cut_unit, (each + (index < odd ? 1 : 0)) * cut_unit + tail};
}

}  // namespace ringscope::schedule
