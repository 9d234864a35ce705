// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace ringscope {
namespace {

using Word = std::uint32_t;
using State = std::array<Word, 8>;
constexpr std::size_t block_bytes = 64;

constexpr State initial_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::array<Word, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// The data, a one bit, zeros, and the length in bits as 64 bits, filled up to whole blocks.
std::string padded(std::string_view data) {
    std::string message{data};
    message += '\x80';
    while (message.size() % block_bytes != block_bytes - 8) message += '\0';
    const std::uint64_t bits = std::uint64_t{data.size()} * 8;
    for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>((bits >> shift) & 0xff);
    return message;
}

Word big_endian(std::string_view four) {
    Word word = 0;
    for (const char byte : four) word = (word << 8) | static_cast<unsigned char>(byte);
    return word;
}

std::array<Word, 64> message_schedule(std::string_view block) {
    std::array<Word, 64> w{};
    for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian(block.substr(4 * t, 4));
    for (std::size_t t = 16; t < 64; ++t) {
        const Word s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
        const Word s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    return w;
}

/// One round; the names are those of the standard.
State round(const State& state, Word constant, Word w) {
    const auto [a, b, c, d, e, f, g, h] = state;
    const Word sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const Word choice = (e & f) ^ (~e & g);
    const Word t1 = h + sum1 + choice + constant + w;
    const Word sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const Word majority = (a & b) ^ (a & c) ^ (b & c);
    return {t1 + sum0 + majority, a, b, c, d + t1, e, f, g};
}

void absorb(State& hash, std::string_view block) {
    const auto w = message_schedule(block);
    State state = hash;
    for (std::size_t t = 0; t < 64; ++t) state = round(state, round_constants[t], w[t]);
    for (std::size_t i = 0; i < hash.size(); ++i) hash[i] += state[i];
}

std::string hex(const State& hash) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const Word word : hash) {
        for (int shift = 28; shift >= 0; shift -= 4) text += digits[(word >> shift) & 0xf];
    }
    return text;
}

}  // namespace

std::string sha256(std::string_view data) {
    const std::string message = padded(data);
    State hash = initial_state;
    for (std::size_t at = 0; at < message.size(); at += block_bytes) {
        absorb(hash, std::string_view{message}.substr(at, block_bytes));
    }
    return hex(hash);
}

}  // namespace ringscope
