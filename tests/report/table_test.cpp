// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/samples.hpp"

namespace ringscope::report {
namespace {

using samples::ended;
using samples::header;
using samples::ring_case;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Lines = std::vector<std::string>;
using Words = std::vector<std::string>;

std::string table_of(const std::vector<CaseSummary>& cases, const RunHeader& run = header()) {
    std::ostringstream out;
    TableReporter reporter{out};
    reporter.begin(run);
    for (const CaseSummary& summary : cases) reporter.add(summary);
    reporter.end(samples::verdict(), ExitCode::ok);
    return out.str();
}

/// The lines that begin with # or the others, which are data.
Lines lines_of(const std::string& text, bool comments) {
    Lines lines;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with('#') == comments) lines.push_back(line);
    }
    return lines;
}

Words words_of(const std::string& line) {
    std::istringstream stream{line};
    return {std::istream_iterator<std::string>{stream}, {}};
}

TEST(Table, GoldenText) {
    auto skipped = ended(ring_case(16384, samples::nan, false), trace::CaseStatus::skipped, "no GPU");
    skipped.point.algorithm.id = skipped.row.algorithm = "nccl";
    skipped.row.engine = "nccl";
    skipped.waited_share = skipped.busiest_link_bytes = samples::nan;
    const std::string table = table_of(
        {ring_case(1024, 2048, false), ring_case(1024, 1024, true), ring_case(4096, 1024, false), skipped}
    );
    EXPECT_EQ(table, R"(# ringscope 0.1.0, sample, 4 ranks
# nThread 1 nGpus 1 minBytes 1024 maxBytes 4096 step: 4(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   1234 on      node7 cpu 0-1
#  Rank  1 Group  0 Pid   1235 on      node7 cpu 0-1
#  Rank  2 Group  0 Pid   1236 on      node7 cpu 0-1
#  Rank  3 Group  0 Pid   1237 on      node7 cpu 0-1
#
# trace: data/sample.h5
# 4 ranks on 2 cores: times are no measurement
# mode: isolated, time: median of 20 samples (nccl-tests prints a back-to-back mean)
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong          algorithm             engine     link   waited
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)                                                 (GB/s)      (%)
# ring-ll on host-shm, isolated
        1024           256     float     sum      -1     2.05    0.50    0.75       0     1.02    1.00    1.50       0            ring-ll           host-shm     0.75    25.00
        4096          1024     float     sum      -1     1.02    4.00    6.00       0      N/A     N/A     N/A     N/A            ring-ll           host-shm     6.00    25.00
# nccl on nccl, isolated
       16384          4096     float     sum      -1      N/A     N/A     N/A     N/A      N/A     N/A     N/A     N/A               nccl               nccl      N/A      N/A  skipped: no GPU
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 2.75
#
# Traffic: declared = traced = closed form on all 12 links of 3 cases
)");
}

// What scripts for nccl-tests rely on: 13 columns in this order, and # before all that is no data.
TEST(Table, FirstThirteenColumnsAreThoseOfNcclTests) {
    const std::string table = table_of({ring_case(1024, 2048, false), ring_case(1024, 1024, true)});
    const Lines rows = lines_of(table, false);
    ASSERT_EQ(rows.size(), 1u);
    Words words = words_of(rows[0]);
    ASSERT_EQ(words.size(), 17u);
    words.resize(13);
    EXPECT_THAT(
        words,
        ElementsAre(
            "1024", "256", "float", "sum", "-1", "2.05", "0.50", "0.75", "0", "1.02", "1.00", "1.50", "0"
        )
    );
    EXPECT_THAT(
        table,
        HasSubstr("#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
                  "time   algbw   busbw  #wrong")
    );
}

/// Where the words of a line end.
std::vector<std::size_t> ends_of(const std::string& line) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 1; i < line.size(); ++i) {
        if (line[i] != ' ' && (i + 1 == line.size() || line[i + 1] == ' ')) ends.push_back(i);
    }
    return ends;
}

TEST(Table, HeaderEndsWhereTheRowsEnd) {
    const std::string table =
        table_of({ring_case(123456789012, 98765432, false), ring_case(123456789012, 5, true)});
    for (const std::string& line : lines_of(table, true)) {
        if (line.find("#wrong") != std::string::npos) {
            EXPECT_EQ(ends_of(line), ends_of(lines_of(table, false)[0]));
        }
    }
}

TEST(Table, LargeValuesNeverRunTogether) {
    const std::int64_t bytes = std::int64_t{1} << 62;
    auto summary = ring_case(bytes, 1e17, false);
    summary.row.wrong = 0;
    const Words words = words_of(lines_of(table_of({summary}), false).at(0));
    EXPECT_EQ(words.at(0), "4611686018427387904");
    EXPECT_EQ(words.size(), 17u);
}

TEST(Table, WrongCasePrintsNoBandwidth) {
    auto wrong =
        ended(ring_case(1024, 2048, false), trace::CaseStatus::wrong, "rank 1, element 7: expected 3, got 4");
    wrong.row.wrong = 42;
    const std::string table = table_of({wrong, ring_case(1024, 1024, true)});
    const std::string row = lines_of(table, false).at(0);
    const Words words = words_of(row);
    EXPECT_THAT(
        Words(words.begin() + 5, words.begin() + 13),
        ElementsAre("N/A", "N/A", "N/A", "42", "1.02", "1.00", "1.50", "0")
    );
    EXPECT_TRUE(row.ends_with("wrong: rank 1, element 7: expected 3, got 4"));
    EXPECT_THAT(table, HasSubstr("# Out of bounds values : 42 FAILED"));
    EXPECT_THAT(table, HasSubstr("# Avg bus bandwidth    : 1.5\n")) << "the mean of verified cases";
}

TEST(Table, SuspectCasesAreCountedAtTheEnd) {
    auto suspect = ring_case(1024, 2048, false);
    suspect.row.marks = "not-warm suspect";
    const auto good = ring_case(1024, 1024, true);
    EXPECT_THAT(table_of({suspect, good}), HasSubstr("# Suspect: 1 of 2 cases are faster than the links"));
    EXPECT_THAT(table_of({good}), Not(HasSubstr("Suspect")));
}

TEST(Table, UncheckedCaseClaimsNoCorrectness) {
    const auto hung =
        ended(ring_case(1024, samples::nan, true), trace::CaseStatus::timeout, "rank 2 waits for rank 1");
    const std::string row = lines_of(table_of({hung}), false).at(0);
    EXPECT_EQ(words_of(row).at(12), "N/A");
    EXPECT_TRUE(row.ends_with("in place timeout: rank 2 waits for rank 1"));
}

TEST(Table, OnlyLikeCasesShareALine) {
    auto other = ring_case(1024, 1024, true);
    other.row.op = ReduceOp::max;
    EXPECT_EQ(lines_of(table_of({ring_case(1024, 2048, false), other}), false).size(), 2u);
    auto tuned = ring_case(1024, 1024, true);
    tuned.point.algorithm.params["channels"] = 2;
    EXPECT_EQ(lines_of(table_of({ring_case(1024, 2048, false), tuned}), false).size(), 2u);
    auto forced = ring_case(1024, 1024, true);
    forced.point.algorithm.words["proto"] = "ll";
    EXPECT_EQ(lines_of(table_of({ring_case(1024, 2048, false), forced}), false).size(), 2u);
    EXPECT_EQ(lines_of(table_of({ring_case(1024, 1, true), ring_case(1024, 1, false)}), false).size(), 2u);
}

TEST(Table, LineIsOutAtOnceWhereNoSecondHalfFollows) {
    std::ostringstream out;
    TableReporter reporter{out};
    RunHeader run = header();
    run.both_places = false;
    reporter.begin(run);
    reporter.add(ring_case(1024, 2048, false));
    EXPECT_EQ(lines_of(out.str(), false).size(), 1u);
}

TEST(Table, AnotherModeBeginsATableOfItsOwn) {
    auto queued = ring_case(1024, 1024, false);
    queued.row.mode = Mode::back_to_back;
    const std::string table = table_of({ring_case(1024, 2048, false), queued});
    EXPECT_THAT(table, HasSubstr("# mode: back-to-back, time: mean of 20 operations"));
    EXPECT_LT(table.find("# ring-ll on host-shm, isolated"), table.find("# mode: back-to-back"));
    EXPECT_LT(table.find("# mode: back-to-back"), table.find("# ring-ll on host-shm, back-to-back"));
}

TEST(Table, GraphsAreNamedInTheSettingsAndTheTitle) {
    RunHeader run = header();
    run.mode = Mode::graph;
    run.statistic = statistic_of(Mode::graph, 20);
    auto graph = ring_case(1024, 2048, false);
    graph.row.mode = Mode::graph;
    graph.row.engine = "cuda-p2p";
    graph.empty_ns = 580;
    const std::string table = table_of({graph}, run);
    EXPECT_THAT(table, HasSubstr(" validation: 1 graph: 20\n"));
    EXPECT_THAT(table, HasSubstr("# mode: graph, time: median of 20 graphs ("));
    EXPECT_THAT(table, HasSubstr("# ring-ll on cuda-p2p, graph, empty kernel 0.58 us\n"));
}

TEST(Table, EmptyKernelOfEachCaseBeginsNoBlock) {
    auto first = ring_case(1024, 2048, false), second = ring_case(4096, 2048, false);
    first.empty_ns = 6700;
    second.empty_ns = 6690;
    const std::string table = table_of({first, second});
    EXPECT_THAT(table, HasSubstr("# ring-ll on host-shm, isolated, empty kernel 6.70 us\n"));
    EXPECT_THAT(table, Not(HasSubstr("6.69 us")));
}

TEST(Table, NoWarningAndNoFileWhereNoneIsDue) {
    RunHeader run = header();
    run.warning.clear();
    run.output.clear();
    const std::string table = table_of({}, run);
    EXPECT_THAT(table, Not(HasSubstr("no measurement")));
    EXPECT_THAT(table, HasSubstr("# trace: not kept"));
    EXPECT_THAT(table, HasSubstr("# Avg bus bandwidth    : N/A"));
}

TEST(Table, GpusAreNumberedWithinTheirHost) {
    RunHeader run = header();
    for (auto& rank : run.ranks) {
        rank.gpu_name = "NVIDIA H200";
        rank.gpu_pci_id = rank.rank % 2 == 0 ? "0000:19:00.0" : "0000:3b:00.0";
        rank.host = rank.rank < 2 ? "a" : "b";
    }
    const std::string table = table_of({}, run);
    EXPECT_THAT(
        table, HasSubstr("#  Rank  1 Group  0 Pid   1235 on          a device  1 [0000:3b:00] NVIDIA H200\n")
    );
    EXPECT_THAT(
        table, HasSubstr("#  Rank  2 Group  0 Pid   1236 on          b device  0 [0000:19:00] NVIDIA H200\n")
    );
}

TEST(Table, ExitCodeIsNamedWhenNotZero) {
    std::ostringstream out;
    TableReporter reporter{out};
    reporter.begin(header());
    reporter.end({}, ExitCode::timeout);
    EXPECT_THAT(out.str(), HasSubstr("# Exit code 4"));
}

TEST(Table, ChangesOfTheMachineAreNamedInOneLine) {
    std::vector<CaseSummary> cases(7, ring_case(1024, 2048, false));
    for (std::size_t i = 0; i < cases.size(); ++i) cases[i].row.case_index = static_cast<std::int32_t>(i);
    for (const std::size_t i : {1, 2, 3, 6}) cases[i].row.marks = "suspect aer-errors";
    cases[4].row.marks = "throttled";
    EXPECT_THAT(
        table_of(cases),
        HasSubstr("# Health: aer-errors in cases 1-3, 6; throttled in case 4 (reasons above, "
                  "readings in /health)\n")
    );
    EXPECT_THAT(table_of({ring_case(1024, 2048, false)}), Not(HasSubstr("Health")));
}

TEST(Fit, GivesDecimalsAwayBeforeTheColumn) {
    EXPECT_EQ(fit(0.304, 7), "   0.30");
    EXPECT_EQ(fit(1234.567, 7), "1234.57");
    EXPECT_EQ(fit(58479.54, 7), "58479.5");
    EXPECT_EQ(fit(1234567.8, 7), "1234568");
    EXPECT_EQ(fit(12345678.9, 7), "  1e+07");
    EXPECT_EQ(fit(99999.97, 7), " 100000");
    EXPECT_EQ(fit(samples::nan, 6), "   N/A");
}

TEST(Traffic, Agreement) {
    TrafficVerdict verdict;
    verdict.cases_checked = 12;
    verdict.links_checked = verdict.links_traced = verdict.links_equal = 36;
    verdict.not_observed = {"mpi"};
    EXPECT_EQ(
        traffic_text(verdict),
        "# Traffic: declared = traced = closed form on all 36 links of 12 cases; not observable: mpi"
    );
}

TEST(Traffic, WhatWasNotTracedIsNotSaidToBeEqual) {
    TrafficVerdict verdict;
    verdict.cases_checked = 3;
    verdict.links_checked = verdict.links_equal = 12;
    EXPECT_EQ(
        traffic_text(verdict), "# Traffic: declared = closed form on all 12 links of 3 cases (12 not traced)"
    );
    verdict.links_traced = 8;
    EXPECT_EQ(
        traffic_text(verdict),
        "# Traffic: declared = traced = closed form on all 12 links of 3 cases (4 not traced)"
    );
}

TEST(Traffic, DifferenceIsNeverCalledAgreement) {
    TrafficVerdict verdict;
    verdict.cases_checked = 12;
    verdict.links_checked = 36;
    verdict.links_equal = 35;
    verdict.differences = {"case 3, 0 -> 1: declared 1536, traced 1520"};
    EXPECT_EQ(
        traffic_text(verdict),
        "# Traffic: DIFFERS on 1 of 36 links of 12 cases\n#   case 3, 0 -> 1: declared 1536, traced 1520"
    );
}

TEST(Traffic, NothingObserved) {
    TrafficVerdict verdict;
    verdict.not_observed = {"mpi", "nccl"};
    EXPECT_EQ(traffic_text(verdict), "# Traffic: no link was observed; not observable: mpi, nccl");
}

}  // namespace
}  // namespace ringscope::report
