// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/csv.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace ringscope::report {
namespace {

std::string number(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string field = "\"";
    for (const char letter : text) {
        if (letter == '"') field += '"';
        field += letter;
    }
    return field + "\"";
}

struct Field {
    std::string name, value;
};

std::vector<Field> fields_of(const CaseSummary& summary) {
    const trace::CaseRow& row = summary.row;
    return {
        {"case", std::to_string(row.case_index)},
        {"algorithm", quoted(label(summary.point.algorithm))},
        {"engine", quoted(row.engine)},
        {"protocol", row.protocol},
        {"mode", std::string{name_of(row.mode)}},
        {"ranks", std::to_string(summary.ranks)},
        {"size_bytes", std::to_string(row.bytes)},
        {"count", std::to_string(row.count)},
        {"dtype", std::string{name_of(row.dtype)}},
        {"op", std::string{name_of(row.op)}},
        {"in_place", row.in_place ? "1" : "0"},
        {"offset_elements", std::to_string(row.offset)},
        {"status", std::string{status_name(row.status)}},
        {"wrong_elements", std::to_string(row.wrong)},
        {"time_s", number(summary.verified_time_ns() * 1e-9)},
        {"algbw_bytes_per_s", number(summary.algbw() * 1e9)},
        {"busbw_bytes_per_s", number(summary.busbw() * 1e9)},
        {"busiest_link_bytes", number(summary.busiest_link_bytes)},
        {"waited_share", number(summary.waited_share)},
        {"empty_kernel_s", number(summary.empty_ns * 1e-9)},
        {"reason", quoted(row.reason)},
        {"marks", row.marks},
    };
}

void print(std::ostream& out, const std::vector<Field>& fields, std::string Field::*part) {
    std::vector<std::string> parts;
    for (const Field& field : fields) parts.push_back(field.*part);
    // Not join(): an empty field in front must keep its comma.
    out << fmt::format("{}\n", fmt::join(parts, ","));
    out.flush();
}

}  // namespace

void CsvReporter::begin(const RunHeader&) {
    print(out_, fields_of(CaseSummary{}), &Field::name);
}

void CsvReporter::add(const CaseSummary& summary) {
    print(out_, fields_of(summary), &Field::value);
}

// The verdict has no line in a table of cases; the exit code of the program carries it.
void CsvReporter::end(const TrafficVerdict&, ExitCode) {
    out_.flush();
}

}  // namespace ringscope::report
