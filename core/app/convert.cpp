// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "app/commands.hpp"
#include "base/text.hpp"
#include "trace/recover.hpp"

namespace ringscope::app {
namespace {

std::string listed(const std::vector<std::int32_t>& numbers) {
    std::vector<std::string> words;
    for (const std::int32_t number : numbers) words.push_back(std::to_string(number));
    return join(words, ", ");
}

/// What there is and what is missing, in one line.
std::string told(const trace::Recovered& found) {
    std::string line = found.path + ": " + std::to_string(found.cases) + " finished cases, " +
                       std::to_string(found.samples) + " samples, " + std::to_string(found.events) +
                       " events of " + std::to_string(found.spills) + " spills";
    if (!found.unfinished.empty()) line += "; not finished: case " + listed(found.unfinished);
    if (!found.silent.empty()) line += ", of which nothing is left by rank " + listed(found.silent);
    if (!found.damaged.empty()) line += "; damaged and left out: " + join(found.damaged, ", ");
    return line;
}

}  // namespace

ExitCode convert(const options::Options& options) {
    std::cout << told(trace::recover(options.subjects, options.output.value_or(""), options.force)) << "\n";
    return ExitCode::ok;
}

}  // namespace ringscope::app
