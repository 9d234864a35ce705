// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

/// Values as bytes and back, for what goes from rank to rank or into a file of this program alone.
namespace ringscope {

/// Appends values to a string. Numbers take seven bits a byte, so small ones are short.
class ByteWriter {
 public:
    void number(std::uint64_t value) {
        char bytes[10];
        std::size_t used = 0;
        for (; value >= 0x80; value >>= 7) bytes[used++] = static_cast<char>(value | 0x80);
        bytes[used++] = static_cast<char>(value);
        bytes_.append(bytes, used);
    }
    /// A number whose sign is kept in its lowest bit, so that small negative ones are short too.
    void integer(std::int64_t value) {
        number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
    }
    void real(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        bytes_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
    void text(std::string_view text) {
        number(text.size());
        bytes_.append(text);
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
    std::string bytes_;
};

/// Reads what a ByteWriter wrote, in the same order. Throws Error (output) where the bytes end too soon.
class ByteReader {
 public:
    explicit ByteReader(std::string_view bytes) : left_{bytes} {}

    [[nodiscard]] std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(take(1)[0]);
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if (byte < 0x80) return value;
        }
        throw damaged();
    }
    [[nodiscard]] std::int64_t integer() {
        const std::uint64_t value = number();
        return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }
    [[nodiscard]] double real() {
        std::uint64_t bits = 0;
        std::memcpy(&bits, take(sizeof bits).data(), sizeof bits);
        return std::bit_cast<double>(bits);
    }
    [[nodiscard]] std::string text() { return std::string{take(number())}; }
    [[nodiscard]] bool at_end() const { return left_.empty(); }

 private:
    static Error damaged() { return {ExitCode::output, "packed values are damaged: they end too soon"}; }

    std::string_view take(std::uint64_t count) {
        if (count > left_.size()) throw damaged();
        const std::string_view taken = left_.substr(0, count);
        left_.remove_prefix(count);
        return taken;
    }

    std::string_view left_;
};

}  // namespace ringscope
