// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/pack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace ringscope::verify {
namespace {

constexpr std::uint64_t all = ~std::uint64_t{0};

TEST(first_bytes, AnyLength_KeepsSoMany) {
    const Pack pack{0x0807060504030201u, 0x100f0e0d0c0b0a09u};
    EXPECT_EQ(first_bytes(pack, 0), (Pack{0, 0}));
    EXPECT_EQ(first_bytes(pack, 3), (Pack{0x030201u, 0}));
    EXPECT_EQ(first_bytes(pack, 8), (Pack{0x0807060504030201u, 0}));
    EXPECT_EQ(first_bytes(pack, 9), (Pack{0x0807060504030201u, 0x09u}));
    EXPECT_EQ(first_bytes(pack, 16), pack);
}

TEST(differing_elements, AllBits_AreAllElements) {
    for (const std::int32_t size : {1, 2, 4, 8}) {
        EXPECT_EQ(differing_elements(Pack{all, all}, Pack{0, 0}, size), 16 / size);
        EXPECT_EQ(differing_elements(Pack{all, all}, Pack{all, all}, size), 0);
    }
}

TEST(differing_elements, AnySingleBit_IsOneElement) {
    for (const std::int32_t size : {1, 2, 4, 8}) {
        for (int bit = 0; bit < 64; ++bit) {
            EXPECT_EQ(differing_elements(Pack{5 ^ std::uint64_t{1} << bit, 6}, Pack{5, 6}, size), 1);
            EXPECT_EQ(differing_elements(Pack{5, 6 ^ std::uint64_t{1} << bit}, Pack{5, 6}, size), 1);
        }
    }
}

TEST(differing_elements, TwoBytes_CountAsTheirElements) {
    const Pack right{0, 0}, wrong{0x0000000000010100u, 0};
    EXPECT_EQ(differing_elements(wrong, right, 1), 2);
    EXPECT_EQ(differing_elements(wrong, right, 2), 2);
    EXPECT_EQ(differing_elements(wrong, right, 4), 1);
    EXPECT_EQ(differing_elements(wrong, right, 8), 1);
}

// ---- Hash ----

std::uint64_t hash_of(const std::array<std::uint64_t, 4>& words) {
    return hash_share(Pack{words[0], words[1]}, 0) + hash_share(Pack{words[2], words[3]}, 16);
}

TEST(hash_share, FirstWordOfZeros_IsThePublishedSplitmix64) {
    EXPECT_EQ(hash_share(std::uint64_t{0}, 0), 0xe220a8397b1dcdafu);
}

TEST(hash_share, AnyFlippedBit_ChangesTheHash) {
    const std::array<std::uint64_t, 4> words{1, 2, 3, all};
    for (std::size_t word = 0; word < words.size(); ++word) {
        for (int bit = 0; bit < 64; ++bit) {
            std::array<std::uint64_t, 4> other = words;
            other[word] ^= std::uint64_t{1} << bit;
            EXPECT_NE(hash_of(other), hash_of(words)) << word << " " << bit;
        }
    }
}

TEST(hash_share, SwappedWords_ChangeTheHash) {
    const std::array<std::uint64_t, 4> words{1, 2, 3, 4};
    for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = a + 1; b < 4; ++b) {
            std::array<std::uint64_t, 4> other = words;
            std::swap(other[a], other[b]);
            EXPECT_NE(hash_of(other), hash_of(words)) << a << " " << b;
        }
    }
}

}  // namespace
}  // namespace ringscope::verify
