// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/reporter.hpp"

#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

namespace ringscope::report {

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
