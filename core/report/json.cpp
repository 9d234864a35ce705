// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "trace/marks.hpp"

namespace ringscope::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double seconds_per_ns = 1e-9, bytes_per_gb = 1e9;

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json rank_json(const trace::RankEnvironment& rank) {
    return {
        {"rank", rank.rank},
        {"host", rank.host},
        {"pid", rank.pid},
        {"cpuset", rank.cpuset},
        {"numa_node", rank.numa_node < 0 ? Json(nullptr) : Json(rank.numa_node)},
        {"gpu_name", text_or_null(rank.gpu_name)},
        {"gpu_uuid", text_or_null(rank.gpu_uuid)},
        {"gpu_pci_id", text_or_null(rank.gpu_pci_id)},
    };
}

Json header_json(const RunHeader& header) {
    Json ranks = Json::array();
    for (const trace::RankEnvironment& rank : header.ranks) ranks.push_back(rank_json(rank));
    return {
        {"schema", "ringscope-result"},
        {"schema_version", "1.1.0"},
        {"version", header.version},
        {"name", header.name},
        {"statistic", header.statistic},
        {"warmup", header.warmup},
        {"iterations", header.iterations},
        {"warning", text_or_null(header.warning)},
        {"output", text_or_null(header.output)},
        {"ranks", std::move(ranks)},
    };
}

Json params_json(const AlgorithmChoice& algorithm) {
    Json params = algorithm.words;
    for (const auto& [name, value] : algorithm.params) params[name] = value;
    return params;
}

Json point_json(const CaseSummary& summary) {
    const trace::CaseRow& row = summary.row;
    return {
        {"case", row.case_index},
        {"algorithm", row.algorithm},
        {"params", params_json(summary.point.algorithm)},
        {"engine", row.engine},
        {"protocol", text_or_null(row.protocol)},
        {"mode", name_of(row.mode)},
        {"size_bytes", row.bytes},
        {"count", row.count},
        {"dtype", name_of(row.dtype)},
        {"op", name_of(row.op)},
        {"in_place", row.in_place},
        {"offset_elements", row.offset},
        {"ranks", summary.ranks},
        {"channels", row.channels},
    };
}

Json result_json(const CaseSummary& summary) {
    const trace::CaseRow& row = summary.row;
    return {
        {"status", status_name(row.status)},
        {"reason", text_or_null(row.reason)},
        {"marks", trace::marks_of(row)},
        {"wrong_elements", row.wrong},
        {"time_s", number(summary.verified_time_ns() * seconds_per_ns)},
        {"algbw_bytes_per_s", number(summary.algbw() * bytes_per_gb)},
        {"busbw_bytes_per_s", number(summary.busbw() * bytes_per_gb)},
        {"busiest_link_bytes", number(summary.busiest_link_bytes)},
        {"busiest_link_bytes_per_s", number(summary.link_bandwidth() * bytes_per_gb)},
        {"waited_share", number(summary.waited_share)},
        {"empty_kernel_s", number(summary.empty_ns * seconds_per_ns)},
        {"trace_overhead_share", number(row.trace_overhead)},
    };
}

Json case_json(const CaseSummary& summary) {
    Json object = point_json(summary);
    object.update(result_json(summary));
    return object;
}

Json traffic_json(const TrafficVerdict& verdict) {
    return {
        {"cases_checked", verdict.cases_checked}, {"links_checked", verdict.links_checked},
        {"links_traced", verdict.links_traced},   {"links_equal", verdict.links_equal},
        {"differences", verdict.differences},     {"not_observed", verdict.not_observed},
    };
}

}  // namespace

void JsonReporter::begin(const RunHeader& header) {
    header_ = header;
}

void JsonReporter::add(const CaseSummary& summary) {
    cases_.push_back(summary);
}

void JsonReporter::end(const TrafficVerdict& verdict, ExitCode code) {
    Json object = header_json(header_);
    object["cases"] = Json::array();
    for (const CaseSummary& summary : cases_) object["cases"].push_back(case_json(summary));
    object["traffic"] = traffic_json(verdict);
    object["exit_code"] = static_cast<int>(code);
    out_ << json_text(object) << "\n";
    out_.flush();
}

}  // namespace ringscope::report
