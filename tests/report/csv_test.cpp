// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/csv.hpp"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/samples.hpp"

namespace ringscope::report {
namespace {

using samples::ended;
using samples::ring_case;

std::vector<std::string> lines_of(const std::vector<CaseSummary>& cases) {
    std::ostringstream out;
    const auto reporter = make_reporter(Format::csv, out);
    reporter->begin(samples::header());
    for (const CaseSummary& summary : cases) reporter->add(summary);
    reporter->end(samples::verdict(), ExitCode::ok);
    std::istringstream stream{out.str()};
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST(Csv, HeaderAndOneLineForEachCase) {
    const auto lines = lines_of({ring_case(1024, 2048, false), ring_case(1024, 1024, true)});
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(
        lines[0],
        "case,algorithm,engine,protocol,mode,ranks,size_bytes,count,dtype,op,in_place,offset_elements,status,"
        "wrong_elements,time_s,algbw_bytes_per_s,busbw_bytes_per_s,busiest_link_bytes,waited_share,"
        "empty_kernel_s,reason,marks"
    );
    EXPECT_THAT(
        lines[1], testing::StartsWith("0,ring-ll,host-shm,ll,isolated,4,1024,256,float32,sum,0,0,ok,0,")
    );
    EXPECT_THAT(lines[1], testing::EndsWith(",1536,0.25,,,"));
    for (const auto& line : lines) EXPECT_EQ(std::ranges::count(line, ','), 21);
}

TEST(Csv, EmptyKernelAndWordsOfTheAlgorithm) {
    auto graph = ring_case(1024, 2048, false);
    graph.empty_ns = 2048;
    graph.point.algorithm.words = {{"algo", "ring"}, {"proto", "ll"}};
    const std::string line = lines_of({graph}).at(1);
    EXPECT_THAT(line, testing::StartsWith("0,ring-ll algo=ring proto=ll,host-shm,"));
    EXPECT_THAT(line, testing::EndsWith(",0.25,2.048e-06,,"));
}

TEST(Csv, MarksAreWords) {
    auto marked = ring_case(1024, 2048, false);
    marked.row.marks = "suspect xid";
    EXPECT_THAT(lines_of({marked}).at(1), testing::EndsWith(",0.25,,,suspect xid"));
}

TEST(Csv, WhatHasNoValueIsEmpty) {
    const auto wrong =
        ended(ring_case(8, 1, false), trace::CaseStatus::wrong, "rank 1: expected \"3\", got 4");
    EXPECT_THAT(
        lines_of({wrong}).at(1),
        testing::EndsWith(",wrong,0,,,,12,0.25,,\"rank 1: expected \"\"3\"\", got 4\",")
    );
}

}  // namespace
}  // namespace ringscope::report
