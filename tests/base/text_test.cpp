// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringscope {
namespace {

using Quantity = std::pair<const char*, std::optional<std::int64_t>>;

TEST(ParseBytes, Table) {
    const std::vector<Quantity> table{
        {"0", 0},
        {"4096", 4096},
        {"7B", 7},
        {"4K", 4096},
        {"4k", 4096},
        {"4KiB", 4096},
        {"4KB", 4000},
        {"4 KiB", 4096},
        {"1M", 1048576},
        {"1MiB", 1048576},
        {"25MB", 25'000'000},
        {"2G", 2147483648},
        {"2g", 2147483648},
        {"1GiB", 1073741824},
        {"1GB", 1'000'000'000},
        {"1.5K", 1536},
        {"0.5KiB", 512},
        {"2.5KB", 2500},
        {"100000000", 100'000'000},
        {"4294967296G", std::int64_t{1} << 62},
        {"4294967297G", std::nullopt},
        {"9223372036854775807", std::nullopt},
        {"99999999999999999999999", std::nullopt},
        {"1e400", std::nullopt},
        {"-1", std::nullopt},
        {"-4K", std::nullopt},
        {"0.5", std::nullopt},
        {"0.0001K", std::nullopt},
        {"", std::nullopt},
        {"K", std::nullopt},
        {"4T", std::nullopt},
        {"4 K B", std::nullopt},
        {"four", std::nullopt},
        {"4,096", std::nullopt},
        {"0x10", std::nullopt},
        {"nan", std::nullopt},
        {"inf", std::nullopt},
    };
    for (const auto& [text, bytes] : table) EXPECT_EQ(parse_bytes(text), bytes) << text;
}

TEST(ParseDuration, Table) {
    const std::vector<Quantity> table{
        {"80ns", 80},
        {"250us", 250'000},
        {"500ms", 500'000'000},
        {"10s", 10'000'000'000},
        {"2m", 120'000'000'000},
        {"1h", 3'600'000'000'000},
        {"1.5s", 1'500'000'000},
        {"0s", 0},
        {"10", std::nullopt},
        {"", std::nullopt},
        {"s", std::nullopt},
        {"-1s", std::nullopt},
        {"1 day", std::nullopt},
        {"0.5ns", std::nullopt},
        {"9999999999999h", std::nullopt},
    };
    for (const auto& [text, ns] : table) EXPECT_EQ(parse_duration_ns(text), ns) << text;
}

TEST(FormatBytes, IsExact_AndReadsBack) {
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(1023), "1023 B");
    EXPECT_EQ(format_bytes(1024), "1 KiB");
    EXPECT_EQ(format_bytes(1536), "1536 B");
    EXPECT_EQ(format_bytes(4 << 20), "4 MiB");
    EXPECT_EQ(format_bytes(1'000'003), "1000003 B");
    for (std::int64_t bytes : {0LL, 1LL, 1023LL, 1024LL, 1536LL, 3LL << 20, 5LL << 30, 1LL << 40}) {
        EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes);
    }
}

TEST(Nearest, Misspelt_FindsTheWord) {
    const std::vector<std::string> words{"name", "sweep", "measure", "algorithms", "ring-ll", "ring-simple"};
    EXPECT_EQ(nearest("algoritms", words), "algorithms");
    EXPECT_EQ(nearest("mesure", words), "measure");
    EXPECT_EQ(nearest("ring-l", words), "ring-ll");
    EXPECT_EQ(nearest("ring-simpel", words), "ring-simple");
    EXPECT_EQ(nearest("name", words), "name");
}

TEST(Nearest, SwappedNeighbours_AreOneMistake) {
    const std::vector<std::string> words{"name", "note"};
    EXPECT_EQ(nearest("nmae", words), "name");
    EXPECT_EQ(nearest("naem", words), "name");
    EXPECT_EQ(nearest("nto", std::vector<std::string>{"not"}), "not");
}

TEST(Nearest, NothingLikeIt_IsEmpty) {
    const std::vector<std::string> words{"name", "sweep"};
    EXPECT_EQ(nearest("zzzz", words), "");
    EXPECT_EQ(nearest("eman", words), "");
    EXPECT_EQ(nearest("", words), "");
    EXPECT_EQ(nearest("name", {}), "");
}

TEST(DidYouMean, IsTheTailOfAMessage) {
    const std::vector<std::string> words{"name"};
    EXPECT_EQ(did_you_mean("nmae", words), ", did you mean `name`?");
    EXPECT_EQ(did_you_mean("zzzz", words), "");
}

TEST(Join, PutsTheSeparatorBetween) {
    EXPECT_EQ(join({}, ", "), "");
    EXPECT_EQ(join(std::vector<std::string>{"a"}, ", "), "a");
    EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
}

}  // namespace
}  // namespace ringscope
