// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reduce/half.hpp"

namespace ringscope::verify {

/// Spreads a number over 64 bits (the finalizer of splitmix64).
[[nodiscard]] RINGSCOPE_HD constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/// The same numbers on every machine, unlike the distributions of the standard library.
class Random {
 public:
    explicit constexpr Random(std::uint64_t seed) noexcept : state_{seed} {}

    constexpr std::uint64_t bits() noexcept { return mix(state_++); }
    /// 0 .. limit-1; the bias of the remainder does not matter here.
    constexpr std::uint64_t below(std::uint64_t limit) noexcept { return bits() % limit; }
    constexpr bool coin() noexcept { return (bits() >> 63) != 0; }
    constexpr double sign() noexcept { return coin() ? 1.0 : -1.0; }
    /// [0, 1)
    constexpr double unit() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
    std::uint64_t state_;
};

}  // namespace ringscope::verify
