// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ringscope {

/// The candidate nearest to a misspelt word by edit distance; empty when none is near (more than a third is
/// wrong).
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// ", did you mean `x`?" for the nearest candidate, or "" when none is near: the tail of an error message.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// Bytes of "4096", "4K", "1MiB", "25MB": K, M, G and KiB, MiB, GiB are binary (as in nccl-tests), KB, MB, GB
/// decimal. Nothing for other text, a negative number, a fraction of a byte, or more than 2^62.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);

/// Nanoseconds of "500ms", "10s", "2m", "1h", "250us", "80ns". A bare number is not a duration.
[[nodiscard]] std::optional<std::int64_t> parse_duration_ns(std::string_view text);

/// "1 KiB", "4 MiB", "1000003 B": exact, never rounded.
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

[[nodiscard]] std::string join(std::span<const std::string> words, std::string_view separator);

}  // namespace ringscope
