// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/config/support.hpp"
#include "tests/effort.hpp"

namespace ringscope {
namespace {

// Seconds. A sanitizer's own time does not count.
constexpr double short_time = sanitized ? 30.0 : 1.0;

using testing::HasSubstr;
using testing::StartsWith;

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

double seconds_to_refuse(const std::string& text) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(error_of(text), StartsWith("x.yaml"));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Yaml, refuses_aliases_and_anchors_with_their_place) {
    EXPECT_THAT(error_of("version: 1\nname: &n run\n"), StartsWith("x.yaml:2:7: anchors"));
    EXPECT_THAT(error_of("version: 1\nsweep: &s {sizes: [1]}\n"), StartsWith("x.yaml:2:8: anchors"));
    // Its anchor is met first.
    EXPECT_THAT(error_of("a: &a [x]\nb: *a\n"), StartsWith("x.yaml:1:4: anchors"));
}

TEST(Yaml, refuses_an_alias_bomb_at_once) {
    std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
    for (char c = 'b'; c <= 'i'; ++c) {
        const std::string before{static_cast<char>(c - 1)};
        bomb += std::string{c} + ": &" + c + " [" + repeated("*" + before + ", ", 9) + "]\n";
    }
    EXPECT_LT(seconds_to_refuse(bomb), short_time);
}

TEST(Yaml, refuses_tags) {
    EXPECT_THAT(error_of("version: !!int 1\n"), StartsWith("x.yaml:1:10: tags"));
    EXPECT_THAT(error_of("version: 1\nsweep: !mine {sizes: [1]}\n"), StartsWith("x.yaml:2:8: tags"));
}

TEST(Yaml, refuses_merge_keys) {
    EXPECT_THAT(error_of("version: 1\nmeasure:\n  <<: {warmup: 1}\n"), StartsWith("x.yaml:3:3: merge keys"));
}

TEST(Yaml, refuses_duplicate_keys_at_every_level) {
    EXPECT_EQ(error_of("version: 1\nname: a\nname: b\n"), "x.yaml:3:1: duplicate key `name`");
    EXPECT_EQ(
        error_of("version: 1\nmeasure:\n  warmup: 1\n  warmup: 2\n"), "x.yaml:4:3: duplicate key `warmup`"
    );
}

TEST(Yaml, refuses_keys_that_are_no_words) {
    EXPECT_EQ(error_of("version: 1\n? [a, b]\n: 1\n"), "x.yaml:2:3: a key must be a word");
    EXPECT_THAT(error_of("version: 1\n? {a: b}\n: 1\n"), StartsWith("x.yaml:2:3: a key must be a word"));
}

TEST(Yaml, refuses_a_second_document) {
    EXPECT_THAT(error_of("version: 1\n---\nversion: 1\n"), HasSubstr("a second document begins here"));
}

TEST(Yaml, refuses_empty_texts) {
    for (const char* text : {"", "   \n", "# only a comment\n"}) {
        EXPECT_THAT(error_of(text), StartsWith("x.yaml:1:1: is empty")) << text;
    }
    EXPECT_THAT(error_of("---\n"), HasSubstr("must be a ringscope experiment"));
}

TEST(Yaml, refuses_bytes_that_are_no_text) {
    EXPECT_THAT(
        error_of(std::string{"version: 1\nname: a\0b\n", 21}), StartsWith("x.yaml:2:8: control character")
    );
    EXPECT_EQ(error_of("version: 1\nname: a\xff\n"), "x.yaml:2:8: is not UTF-8");
    EXPECT_EQ(error_of("name: \xc0\xaf\n"), "x.yaml:1:7: is not UTF-8");          // overlong
    EXPECT_EQ(error_of("name: \xed\xa0\x80\n"), "x.yaml:1:7: is not UTF-8");      // surrogate
    EXPECT_EQ(error_of("name: \xf4\x90\x80\x80\n"), "x.yaml:1:7: is not UTF-8");  // above U+10FFFF
    EXPECT_EQ(error_of("name: \xe2\x82"), "x.yaml:1:7: is not UTF-8");            // cut off
    EXPECT_THAT(error_of("version: 1\noutput: \"a\\0b\"\n"), StartsWith("x.yaml:2:9: control character"));
}

TEST(Yaml, accepts_text_beyond_ascii) {
    EXPECT_EQ(
        parse("version: 1\noutput: \"d\xc3\xa4ta/\xf0\x9f\x90\xa2.h5\"\n").output,
        "d\xc3\xa4ta/\xf0\x9f\x90\xa2.h5"
    );
}

TEST(Yaml, refuses_what_is_too_large) {
    const std::string comment = "version: 1\n#" + std::string(config::file_limit - 12, ' ');
    EXPECT_EQ(error_of(comment), "no error");  // 64 KiB exactly
    EXPECT_THAT(error_of(comment + " "), HasSubstr("65537 bytes"));
    EXPECT_THAT(
        error_of("version: 1\nname: " + std::string(1025, 'a') + "\n"), StartsWith("x.yaml:2:7: a text of")
    );
    EXPECT_LT(seconds_to_refuse(std::string(10 << 20, 'a')), short_time);
}

TEST(Yaml, refuses_nesting_deeper_than_16) {
    EXPECT_THAT(error_of("a: " + repeated("[", 15) + repeated("]", 15)), HasSubstr("unknown key"));
    EXPECT_THAT(
        error_of("a: " + repeated("[", 16) + repeated("]", 16)), StartsWith("x.yaml:1:19: nested deeper")
    );
}

TEST(Yaml, refuses_nesting_of_any_depth_within_a_second) {
    EXPECT_LT(seconds_to_refuse(repeated("[", 100'000)), short_time);  // over the limit of bytes
    EXPECT_LT(seconds_to_refuse(repeated("[", 65'000)), short_time);
    EXPECT_LT(seconds_to_refuse(repeated("{", 65'000)), short_time);
    EXPECT_LT(seconds_to_refuse(repeated("{a: ", 16'000)), short_time);
    EXPECT_LT(seconds_to_refuse(repeated("- ", 32'000)), short_time);
    EXPECT_LT(seconds_to_refuse(repeated("? ", 32'000)), short_time);
    EXPECT_LT(seconds_to_refuse(repeated("[\n", 32'000)), short_time);
}

TEST(Yaml, refuses_long_flat_nonsense_within_a_second) {
    std::string keys, duplicates = "version: 1\nsweep: {engines: [";
    for (int i = 0; i < 9'000; ++i) keys += "k" + std::to_string(i) + ":\n";
    EXPECT_LT(seconds_to_refuse(keys), short_time);
    EXPECT_LT(seconds_to_refuse(duplicates + repeated("a,", 32'000) + "]}"), short_time);
    EXPECT_LT(seconds_to_refuse("version: 1\nsweep: {sizes: [" + repeated("x,", 32'000) + "]}"), short_time);
    EXPECT_LT(
        seconds_to_refuse("version: 1\nsweep: {dtypes: [" + repeated("float32,", 8'000) + "]}"), short_time
    );
    EXPECT_LT(
        seconds_to_refuse("version: 1\nsweep: {algorithms: [" + repeated("{id: a},", 8'000) + "]}"),
        short_time
    );
}

TEST(Yaml, names_the_place_of_a_syntax_error) {
    EXPECT_THAT(error_of("version: 1\nsweep: {sizes: [1, 2}\n"), StartsWith("x.yaml:2:"));
    EXPECT_THAT(error_of("version: 1\n\tname: a\n"), StartsWith("x.yaml:2:"));
    EXPECT_THAT(error_of("version: 1\nname: \"a\n"), StartsWith("x.yaml:"));
}

TEST(Yaml, tells_scalars_apart) {
    const config::Node root = config::parse_yaml(
        "[8, \"8\", '8', 010, 1e6, 1.5, true, yes, ~, null, -3, .inf, 99999999999999999999]", "x"
    );
    using config::Kind;
    const std::vector<Kind> kinds{Kind::integer, Kind::text,    Kind::text, Kind::text, Kind::integer,
                                  Kind::real,    Kind::boolean, Kind::text, Kind::null, Kind::null,
                                  Kind::integer, Kind::text,    Kind::real};
    ASSERT_EQ(root.items.size(), kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(root.items[i].kind, kinds[i]) << i;
    EXPECT_EQ(root.items[4].integer, 1'000'000);
}

TEST(Yaml, writes_what_it_reads) {
    for (const char* text :
         {"plain",       "true",     "No",           "8",           "1e3",    "",        "a b",
          "a: b",        "#c",       "\"q\"",        "back\\slash", "tab\tx", "line\nx", "- x",
          "\xc3\xa4",    "\xc2\x85", "\xe2\x80\xa8", "{name}",      "~",      "null",    "a,b",
          "/tmp/x-1.h5", "*a",       "&a",           "!t",          "<<"}) {
        const config::Node node = config::parse_yaml("[" + config::write_text(text) + "]", "x");
        ASSERT_EQ(node.items.size(), 1U) << text;
        EXPECT_EQ(node.items[0].kind, config::Kind::text) << text;
        EXPECT_EQ(node.items[0].text, text);
    }
}

}  // namespace
}  // namespace ringscope
