// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "base/error.hpp"
#include "doctor/finding.hpp"
#include "options/options.hpp"

namespace ringscope::doctor {
namespace {

using Words = std::set<std::string>;

/// What stands in the headings of docs/troubleshooting.md that have this form.
Words headings(const std::string& form) {
    std::ifstream page{RINGSCOPE_SOURCE_FOLDER "/docs/troubleshooting.md"};
    Words words;
    std::smatch match;
    for (std::string line; std::getline(page, line);) {
        if (std::regex_match(line, match, std::regex{form})) words.insert(match[1]);
    }
    return words;
}

TEST(Page, HasEveryFindingAndNoOther) {
    EXPECT_EQ(headings("### `([a-z-]+)`"), Words(all_ids().begin(), all_ids().end()));
}

TEST(Page, HasEveryExitCodeAndNoOther) {
    Words codes;
    for (const ExitCode code : exit_codes) codes.insert(std::to_string(static_cast<int>(code)));
    EXPECT_EQ(headings("### ([0-9]+): .*"), codes);
}

TEST(Help, HasEveryExitCode) {
    const std::string text = options::help_text(std::nullopt);
    const std::string codes = text.substr(text.find("Exit codes:"));
    for (const ExitCode code : exit_codes)
        EXPECT_THAT(codes, testing::ContainsRegex("[ \n]" + std::to_string(static_cast<int>(code)) + " "));
}

TEST(Ids, AreDifferentFromEachOther) {
    EXPECT_EQ(Words(all_ids().begin(), all_ids().end()).size(), all_ids().size());
}

}  // namespace
}  // namespace ringscope::doctor
