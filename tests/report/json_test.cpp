// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/report/samples.hpp"

namespace ringscope::report {
namespace {

using samples::ended;
using samples::ring_case;

nlohmann::json json_of(const std::vector<CaseSummary>& cases, ExitCode code = ExitCode::ok) {
    std::ostringstream out;
    JsonReporter reporter{out};
    reporter.begin(samples::header());
    for (const CaseSummary& summary : cases) reporter.add(summary);
    EXPECT_TRUE(out.str().empty()) << "one object, at the end";
    reporter.end(samples::verdict(), code);
    return nlohmann::json::parse(out.str());
}

TEST(Json, NumbersAreRawAndInSiUnits) {
    const auto result = json_of({ring_case(1024, 2048, false)});
    const auto& only = result["cases"][0];
    EXPECT_EQ(only["size_bytes"], 1024);
    EXPECT_DOUBLE_EQ(only["time_s"], 2.048e-6);
    EXPECT_DOUBLE_EQ(only["algbw_bytes_per_s"], 0.5e9);
    EXPECT_DOUBLE_EQ(only["busbw_bytes_per_s"], 0.75e9);
    EXPECT_DOUBLE_EQ(only["waited_share"], 0.25);
    EXPECT_EQ(only["in_place"], false);
    EXPECT_EQ(only["mode"], "isolated");
    EXPECT_EQ(only["dtype"], "float32");
}

TEST(Json, WhatHasNoValueIsNull) {
    auto skipped = ended(ring_case(1024, 1, false), trace::CaseStatus::skipped, "no GPU");
    skipped.waited_share = samples::nan;
    skipped.row.trace_overhead = samples::nan;
    const auto result = json_of({skipped}, ExitCode::skipped);
    const auto& only = result["cases"][0];
    for (const char* key :
         {"time_s", "algbw_bytes_per_s", "busbw_bytes_per_s", "waited_share", "trace_overhead_share",
          "empty_kernel_s"}) {
        EXPECT_TRUE(only.at(key).is_null()) << key;
    }
    EXPECT_EQ(only["status"], "skipped");
    EXPECT_EQ(only["reason"], "no GPU");
    EXPECT_EQ(result["exit_code"], 77);
}

TEST(Json, ParametersAreNumbersAndWords) {
    auto summary = ring_case(1024, 2048, false);
    summary.point.algorithm = {"nccl", {{"max_ctas", 4}}, {{"algo", "ring"}}};
    summary.empty_ns = 580;
    const auto result = json_of({summary, ring_case(1024, 2048, false)});
    EXPECT_EQ(result["cases"][0]["params"], (nlohmann::json{{"algo", "ring"}, {"max_ctas", 4}}));
    EXPECT_EQ(result["cases"][1]["params"], nlohmann::json::object());
    EXPECT_DOUBLE_EQ(result["cases"][0]["empty_kernel_s"], 580e-9);
}

TEST(Json, MarksAreAListOfWords) {
    auto marked = ring_case(1024, 2048, false);
    marked.row.marks = "link-changed xid";
    const auto result = json_of({marked, ring_case(1024, 2048, false)});
    EXPECT_EQ(result["cases"][0]["marks"], (nlohmann::json{"link-changed", "xid"}));
    EXPECT_EQ(result["cases"][1]["marks"], nlohmann::json::array());
}

TEST(Json, RunAndTraffic) {
    const auto result = json_of({});
    EXPECT_EQ(result["version"], "0.1.0");
    EXPECT_EQ(result["ranks"].size(), 4u);
    EXPECT_EQ(result["ranks"][1]["cpuset"], "0-1");
    EXPECT_TRUE(result["ranks"][1]["gpu_name"].is_null());
    EXPECT_TRUE(result["cases"].is_array());
    EXPECT_EQ(result["traffic"]["links_equal"], 12);
}

TEST(Json, BytesThatAreNoUtf8DoNotLoseTheResult) {
    const auto odd = ended(ring_case(8, 1, false), trace::CaseStatus::failed, "plugin says \xff");
    EXPECT_EQ(json_of({odd})["cases"].size(), 1u);
}

}  // namespace
}  // namespace ringscope::report
