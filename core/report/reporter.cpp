// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/reporter.hpp"

#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

namespace ringscope::report {

std::string statistic_of(Mode mode, std::int64_t iterations) {
    const std::string number = std::to_string(iterations);
    switch (mode) {
        case Mode::isolated:
            break;
        case Mode::back_to_back:
            return "mean of " + number + " operations";
        case Mode::graph:
            return "median of " + number + " graphs";
    }
    return "median of " + number + " samples";
}

std::unique_ptr<Reporter> make_reporter(Format format, std::ostream& out) {
    switch (format) {
        case Format::json:
            return std::make_unique<JsonReporter>(out);
        case Format::csv:
            return std::make_unique<CsvReporter>(out);
        case Format::table:
            break;
    }
    return std::make_unique<TableReporter>(out);
}

}  // namespace ringscope::report
