// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "tree_law.hpp"

#include "ringscope/law.hpp"

namespace {

/// Whether `upper` is the parent of `lower` in the first tree. With b the largest power of two in `lower`,
/// that is lower + b where lower / 2b is even and the sum is a rank, else lower - b.
bool is_parent(std::int32_t upper, std::int32_t lower, std::int32_t n) {
    if (lower == 0) return false;
    std::int32_t b = 1;
    while (lower % (2 * b) == 0) b *= 2;
    const bool goes_up = lower / (2 * b) % 2 == 0 && lower + b < n;
    return upper == (goes_up ? lower + b : lower - b);
}

bool is_edge(std::int32_t a, std::int32_t b, std::int32_t n) {
    return is_parent(a, b, n) || is_parent(b, a, n);
}

}  // namespace

/// Every edge of a tree carries its half of the message once up and once down, so a rank with u parents and c
/// children sends (u + c) M/2 in each tree. The second tree mirrors the ranks (N even) or shifts them by one.
std::int64_t tree_law(const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst) {
    const std::int32_t n = place->ranks;
    const auto second = [n](std::int32_t rank) { return n % 2 == 0 ? n - 1 - rank : (rank + n - 1) % n; };
    std::int64_t sent = 0;
    if (is_edge(src, dst, n)) sent += ringscope::law::chunk_bytes(bytes, 2, 0);
    if (is_edge(second(src), second(dst), n)) sent += ringscope::law::chunk_bytes(bytes, 2, 1);
    return sent;
}
