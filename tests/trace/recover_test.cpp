// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/recover.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

#include "base/error.hpp"
#include "tests/effort.hpp"
#include "tests/trace/reading.hpp"
#include "tests/trace/samples.hpp"
#include "trace/spill.hpp"
#include "trace/writer.hpp"

namespace ringscope::trace {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<EventRow> events_of(std::int32_t case_index, std::int32_t rank, std::int64_t count) {
    std::vector<EventRow> rows = events(count);
    for (EventRow& row : rows) row.case_index = case_index, row.rank = rank;
    return rows;
}

CaseRow row_of(std::int32_t index, std::int64_t events_expected, std::int64_t events_written) {
    CaseRow row = case_row(index);
    row.events_expected = events_expected;
    row.events_written = events_written;
    row.events_dropped = 0;
    return row;
}

CaseRow begun(std::int32_t index, std::int64_t events_expected) {
    CaseRow row = row_of(index, events_expected, 0);
    row.status = CaseStatus::failed;
    row.reason = "the run ended during this case";
    return row;
}

/// Case 0 of two ranks, whole.
void write_finished_case(TraceWriter& writer) {
    writer.begin_case(begun(0, 7));
    for (const std::int32_t rank : {0, 1}) writer.append(events_of(0, rank, 3 + rank));
    writer.append(std::vector<SampleRow>{{.case_index = 0, .rank = 0}, {.case_index = 0, .rank = 1}});
    writer.append(std::vector<TrafficRow>{{.case_index = 0, .src = 0, .dst = 1, .declared_payload = 42}});
    writer.append({row_of(0, 7, 7)});
    writer.finish_case(0);
}

/// A run that ended within case 1, of which the log has two events of rank 0.
std::string crashed_run(const Folder& folder) {
    const std::string path = folder.file("run.h5");
    TraceWriter writer{path, run_info(), false};
    writer.append(std::vector<ClockRow>{{.rank = 1, .anchor = "before", .offset_ns = 5}});
    writer.append(std::vector<ColdRow>{{"mpi_init", 0, -1, 9}});
    writer.append(std::vector{health_row()});
    write_finished_case(writer);
    writer.begin_case(begun(1, 20));
    writer.append(events_of(1, 0, 2));
    return path;
}

std::string write_rest(
    const std::string& path, std::int32_t rank, std::int32_t case_index, std::int64_t count,
    const std::string& uuid = run_info().run_uuid
) {
    SpillWriter rest{spill_name(path, rank), {.is_log = false, .rank = rank, .run_uuid = uuid}};
    const std::vector<SampleRow> samples{{.case_index = case_index, .iteration = 6, .rank = rank}};
    const std::vector<EventRow> rows = events_of(case_index, rank, count);
    rest.append(std::span{samples});
    rest.append(std::span{rows});
    return rest.path();
}

void expect_error(const std::function<void()>& work, const std::string& words) {
    try {
        work();
        ADD_FAILURE() << "nothing was thrown; expected: " << words;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        EXPECT_THAT(error.what(), HasSubstr(words));
    }
}

/// Finished cases read back as the partial file has them; of the others there is what was logged.
TEST(recover, log_alone) {
    const Folder folder;
    const std::string path = crashed_run(folder);
    std::filesystem::copy_file(path + ".partial", folder.file("copy"));
    const Id partial = open(folder.file("copy"));
    const Recovered found = recover({log_name(path)}, "", false);
    EXPECT_EQ(found.path, path);
    EXPECT_EQ(found.cases, 1);
    EXPECT_EQ(found.samples, 2);
    EXPECT_EQ(found.events, 9);
    EXPECT_THAT(found.unfinished, ElementsAre(1));
    EXPECT_THAT(found.silent, ElementsAre(1));
    EXPECT_THAT(found.damaged, IsEmpty());

    const Id file = open(path);
    EXPECT_EQ(root_integer(file, "complete"), 1);
    EXPECT_EQ(root_integer(file, "recovered"), 1);
    EXPECT_EQ(root_integer(file, "lossy"), 1);
    EXPECT_EQ(text_attribute(file, "run_uuid"), run_info().run_uuid);
    EXPECT_EQ(texts(file, "/environment/host"), texts(partial, "/environment/host"));
    EXPECT_EQ(texts(file, "/environment/facts/value"), texts(partial, "/environment/facts/value"));
    EXPECT_EQ(texts(file, "/environment/topology/hwloc"), texts(partial, "/environment/topology/hwloc"));
    for (const char* column :
         {"/events/case", "/events/seq", "/events/begin_ns", "/events/end_ticks", "/samples/rank",
          "/traffic/declared_payload", "/clock/offset_ns", "/cold/ns", "/health/throttled_ns"})
        EXPECT_EQ(integers(file, column), integers(partial, column)) << column;
    EXPECT_THAT(texts(file, "/cases/status"), ElementsAre("ok", "failed"));
    EXPECT_THAT(texts(file, "/cases/reason"), ElementsAre("", "the run ended during this case"));
    EXPECT_THAT(integers(file, "/cases/events_expected"), ElementsAre(7, 20));
    EXPECT_THAT(integers(file, "/cases/events_written"), ElementsAre(7, 2));
    EXPECT_THAT(integers(file, "/cases/events_dropped"), ElementsAre(0, 18));
}

/// What a rank put aside of the unfinished case replaces what the log has of that rank; what it has of a
/// finished one is known already.
TEST(recover, rests_of_the_ranks_belong_to_the_unfinished_case) {
    const Folder folder;
    const std::string path = crashed_run(folder);
    const std::string first = write_rest(path, 0, 1, 8), second = write_rest(path, 1, 0, 4);
    const Recovered found = recover({second, log_name(path), first}, folder.file("other.h5"), false);
    EXPECT_EQ(found.spills, 3);
    EXPECT_THAT(found.silent, ElementsAre(1));
    const Id file = open(folder.file("other.h5"));
    EXPECT_THAT(integers(file, "/cases/events_written"), ElementsAre(7, 8));
    EXPECT_THAT(integers(file, "/events/case"), ElementsAre(0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
    EXPECT_THAT(integers(file, "/samples/case"), ElementsAre(0, 0, 1));
    EXPECT_FALSE(std::filesystem::exists(path));
}

/// Rank 0 had gathered more of a rank than that rank's spill holds.
TEST(recover, shorter_rest_than_the_log_is_left_out) {
    const Folder folder;
    const std::string path = crashed_run(folder);
    const Recovered found = recover({log_name(path), write_rest(path, 0, 1, 1)}, "", false);
    EXPECT_EQ(found.events, 9);
    EXPECT_EQ(found.samples, 3);
}

TEST(recover, verdict_that_the_log_knows_is_kept) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    {
        TraceWriter writer{path, run_info(), false};
        write_finished_case(writer);
        CaseRow hung = row_of(1, 20, 0);
        hung.status = CaseStatus::timeout;
        hung.reason = "rank 1 does not answer";
        writer.append({hung});
        writer.finish(false, TraceWriter::Log::kept);
    }
    write_rest(path, 1, 1, 5);
    (void)recover({log_name(path), spill_name(path, 1)}, folder.file("other.h5"), false);
    const Id file = open(folder.file("other.h5"));
    EXPECT_THAT(texts(file, "/cases/status"), ElementsAre("ok", "timeout"));
    EXPECT_THAT(texts(file, "/cases/reason"), ElementsAre("", "rank 1 does not answer"));
    EXPECT_THAT(integers(file, "/cases/events_written"), ElementsAre(7, 5));
}

/// At every length of the log either the case is there whole or it is said to be unfinished.
TEST(recover, log_torn_anywhere_gives_a_file_or_says_why_not) {
    const Folder folder;
    const std::string path = crashed_run(folder), log = log_name(path);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(log));
    int made = 0, finished = 0;
    constexpr std::int64_t step = sanitized ? 370 : 37;
    for (std::int64_t left = size; left >= 0; left -= step) {
        std::filesystem::resize_file(log, static_cast<std::uintmax_t>(left));
        try {
            const Recovered found = recover({log}, "", true);
            ++made;
            finished += static_cast<int>(found.cases);
            const Id file = open(path);
            ASSERT_EQ(
                integers(file, "/cases/case").size(), std::size_t(found.cases) + found.unfinished.size()
            );
            const std::size_t least = found.cases == 1 ? 7U : 0U;
            ASSERT_GE(integers(file, "/events/case").size(), least);
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ExitCode::output) << error.what();
        }
    }
    EXPECT_GT(finished, 0);
    EXPECT_GT(made, finished);
}

TEST(recover, what_does_not_belong_together_is_refused) {
    const Folder folder;
    const std::string path = crashed_run(folder), log = log_name(path);
    const std::string rest = write_rest(path, 1, 1, 5);
    expect_error([&] { (void)recover({rest}, "", false); }, "name the log of the run too");
    expect_error([&] { (void)recover({log, rest, rest}, "", false); }, "of the same rank");
    expect_error([&] { (void)recover({log, log}, "", false); }, "of the same rank");
    const std::string stranger = write_rest(folder.file("other.h5"), 1, 1, 5, "another-uuid");
    expect_error([&] { (void)recover({log, stranger}, "", false); }, "is of another run than");
    std::filesystem::copy_file(log, folder.file("renamed"));
    expect_error([&] { (void)recover({folder.file("renamed")}, "", false); }, "--output");
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(recover, existing_file_is_kept_without_force) {
    const Folder folder;
    const std::string path = crashed_run(folder);
    (void)recover({log_name(path)}, "", false);
    expect_error([&] { (void)recover({log_name(path)}, "", false); }, "--force");
    EXPECT_EQ(recover({log_name(path)}, "", true).cases, 1);
}

TEST(recover, run_that_still_lasts_is_left_alone) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    TraceWriter writer{path, run_info(), false};
    write_finished_case(writer);
    expect_error([&] { (void)recover({log_name(path)}, folder.file("x.h5"), false); }, "still writes it");
}

TEST(recover, finished_run_leaves_no_log_and_a_new_one_removes_what_is_left) {
    const Folder folder;
    const std::string path = crashed_run(folder);
    write_rest(path, 1, 1, 5);
    TraceWriter writer{path, run_info(), false};
    EXPECT_FALSE(std::filesystem::exists(spill_name(path, 1)));
    EXPECT_TRUE(std::filesystem::exists(log_name(path)));
    writer.finish(false);
    EXPECT_FALSE(std::filesystem::exists(log_name(path)));
}

}  // namespace
}  // namespace ringscope::trace
