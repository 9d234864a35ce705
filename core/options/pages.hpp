// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <boost/program_options/options_description.hpp>

#include "options/options.hpp"

/// The sub-commands and their help pages. Included by this folder only.
namespace ringscope::options {

struct Page {
    Command command;
    std::string_view name;
    std::string_view argument;  ///< "ALGORITHM", or "" where none is taken
    std::string_view synopsis;
    std::string_view purpose;   ///< one line
    std::string_view examples;  ///< two lines
};

[[nodiscard]] std::span<const Page> pages();
[[nodiscard]] const Page* find_page(std::string_view name);

/// The options of one sub-command, as --help lists them.
[[nodiscard]] boost::program_options::options_description visible_options(Command command);

[[nodiscard]] std::string page_text(Command command);
[[nodiscard]] std::string overview_text();

}  // namespace ringscope::options
