// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/convert.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "reduce/float8.hpp"
#include "reduce/half.hpp"
#include "tests/gpu/support.hpp"
#include "verify/random.hpp"

// A device converts with instructions of its own: bit for bit as the host, but for what is in a NaN.
namespace ringscope::gpu {
namespace {

using reduce::BFloat16;
using reduce::Float8E4M3;
using reduce::Float8E5M2;
using reduce::Half;
using DeviceConvert = OnGpu;

template <class Bits = std::uint16_t>
std::vector<Bits> all_bits() {
    std::vector<Bits> bits(std::size_t{1} << 8 * sizeof(Bits));
    std::iota(bits.begin(), bits.end(), Bits{0});
    return bits;
}

bool same(float a, float b) {
    return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

template <class T>
bool same(T a, T b) {
    return std::isnan(to_float(a)) ? std::isnan(to_float(b)) : a.bits == b.bits;
}

/// Every exponent and both signs with the mantissas at which rounding turns, and four million floats at
/// random.
std::vector<float> telling_floats() {
    std::vector<float> values;
    for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
        for (const std::uint32_t lower :
             {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xefffu, 0xf000u,
              0xffffu}) {
            values.push_back(std::bit_cast<float>(upper << 16 | lower));
        }
    }
    for (std::uint64_t i = 0; i < 4'000'000; ++i) {
        values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(verify::mix(i))));
    }
    return values;
}

template <class Bits, class Host>
std::size_t count_different(const std::vector<float>& values, const std::vector<Bits>& bits, Host host) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto right = host(values[i]);
        different += same(right, decltype(right){bits[i]}) ? 0 : 1;
    }
    return different;
}

TEST_F(DeviceConvert, EveryHalf_IsTheFloatOfTheHost) {
    const std::vector<float> values = floats_of_halfs(all_bits());
    for (const std::uint16_t bits : all_bits()) EXPECT_TRUE(same(values[bits], to_float(Half{bits}))) << bits;
}

TEST_F(DeviceConvert, EveryBFloat16_IsTheFloatOfTheHost) {
    const std::vector<float> values = floats_of_bfloat16s(all_bits());
    for (const std::uint16_t bits : all_bits()) {
        EXPECT_TRUE(same(values[bits], to_float(BFloat16{bits}))) << bits;
    }
}

TEST_F(DeviceConvert, FloatsToHalf_RoundAsOnTheHost) {
    const std::vector<float> values = telling_floats();
    const auto host = [](float value) { return reduce::to_half(value); };
    EXPECT_EQ(count_different(values, halfs_of(values), host), 0u);
}

TEST_F(DeviceConvert, FloatsToBFloat16_RoundAsOnTheHost) {
    const std::vector<float> values = telling_floats();
    const auto host = [](float value) { return reduce::to_bfloat16(value); };
    EXPECT_EQ(count_different(values, bfloat16s_of(values), host), 0u);
}

TEST_F(DeviceConvert, EveryFloat8_IsTheFloatOfTheHost) {
    const auto bits = all_bits<std::uint8_t>();
    const std::vector<float> e4m3 = floats_of_e4m3s(bits), e5m2 = floats_of_e5m2s(bits);
    for (const std::uint8_t code : bits) {
        EXPECT_TRUE(same(e4m3[code], to_float(Float8E4M3{code}))) << int{code};
        EXPECT_TRUE(same(e5m2[code], to_float(Float8E5M2{code}))) << int{code};
    }
}

TEST_F(DeviceConvert, FloatsToFloat8_RoundAsOnTheHost) {
    const std::vector<float> values = telling_floats();
    const auto e4m3 = [](float value) { return reduce::to_float8_e4m3(value); };
    const auto e5m2 = [](float value) { return reduce::to_float8_e5m2(value); };
    EXPECT_EQ(count_different(values, e4m3s_of(values), e4m3), 0u);
    EXPECT_EQ(count_different(values, e5m2s_of(values), e5m2), 0u);
}

}  // namespace
}  // namespace ringscope::gpu
