// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>

#include "base/error.hpp"
#include "tests/effort.hpp"
#include "tests/trace/reading.hpp"
#include "tests/trace/samples.hpp"
#include "trace/writer.hpp"

namespace ringscope::trace {
namespace {

using namespace testing;

constexpr int cases = sanitized ? 5 : 20;
constexpr std::int64_t events_of_a_case = 2000;

void write_cases(TraceWriter& writer) {
    const std::vector<EventRow> rows = events(events_of_a_case);
    for (std::int32_t i = 0; i < cases; ++i) {
        writer.append({case_row(i)});
        writer.append(rows);
        writer.finish_case(i);
    }
}

void write_run(const std::string& path) {
    TraceWriter writer{path, run_info(), true};
    write_cases(writer);
    writer.finish(false);
}

/// Runs `work` in a process of its own and returns its id; the process ends as a program does, exit handlers
/// included.
template <typename Work>
pid_t start(Work work) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    try {
        work();
        std::exit(0);
    } catch (const Error& error) {
        std::exit(static_cast<int>(error.code()));
    }
}

int status_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

void expect_complete(const std::string& path) {
    const Id file = open(path);
    EXPECT_EQ(root_integer(file, "complete"), 1);
    EXPECT_EQ(integers(file, "/cases/case").size(), std::size_t{cases});
    EXPECT_EQ(integers(file, "/events/seq").size(), std::size_t{cases * events_of_a_case});
}

std::int64_t microseconds_of_a_run(const std::string& path) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(status_of(start([&] { write_run(path); })), 0);
    const auto spent = std::chrono::steady_clock::now() - begin;
    return std::chrono::duration_cast<std::chrono::microseconds>(spent).count();
}

TEST(crash, killed_writer_leaves_the_final_name_absent_or_complete) {
    const Folder folder;
    const std::int64_t whole = microseconds_of_a_run(folder.file("measure.h5"));
    std::mt19937 random{20250101};
    // A little beyond the whole run, so that some moments fall on finish() and after it.
    std::uniform_int_distribution<std::int64_t> moment{0, whole + whole / 5};
    for (int i = 0; i < (sanitized ? 6 : 20); ++i) {
        const std::string path = folder.file("run" + std::to_string(i) + ".h5");
        const pid_t child = start([&] { write_run(path); });
        ::usleep(static_cast<useconds_t>(moment(random)));
        ::kill(child, SIGKILL);
        status_of(child);
        if (std::filesystem::exists(path)) expect_complete(path);
        // A later run is not disturbed by what was left.
        if (i < 3) {
            EXPECT_EQ(status_of(start([&] { write_run(path); })), 0);
        }
    }
}

TEST(crash, flushed_cases_of_a_killed_writer_can_be_read) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    const pid_t child = start([&] {
        TraceWriter writer{path, run_info(), false};
        write_cases(writer);
        ::kill(::getpid(), SIGKILL);
    });
    const int status = status_of(child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    const Id file = open(path + ".partial");
    EXPECT_EQ(root_integer(file, "complete"), 0);
    EXPECT_EQ(integers(file, "/events/seq").size(), std::size_t{cases * events_of_a_case});
}

/// Lets no file of this process grow beyond `bytes`, so that writing fails as on a full disk.
void limit_file_size(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
}

std::int64_t size_of_a_run(const Folder& folder) {
    const std::string path = folder.file("measure.h5");
    EXPECT_EQ(status_of(start([&] { write_run(path); })), 0);
    return static_cast<std::int64_t>(std::filesystem::file_size(path));
}

class FullDisk : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(FullDisk, ends_with_exit_code_output) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    const std::int64_t limit = size_of_a_run(folder) * GetParam() / 100;
    const int status = status_of(start([&] {
        limit_file_size(static_cast<rlim_t>(limit));
        write_run(path);
    }));
    ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::output));
    EXPECT_FALSE(std::filesystem::exists(path));
}

// Percent of the whole file: from no room at all, through what is written at the start, into the rows.
INSTANTIATE_TEST_SUITE_P(
    crash, FullDisk,
    ::testing::ValuesIn(
        sanitized ? std::vector<std::int64_t>{0, 50, 99}
                  : std::vector<std::int64_t>{0, 1, 5, 20, 50, 70, 90, 99}
    )
);

TEST(crash, message_of_a_full_disk_says_why_and_where) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    const std::int64_t limit = size_of_a_run(folder) / 2;
    const int status = status_of(start([&] {
        limit_file_size(static_cast<rlim_t>(limit));
        try {
            write_run(path);
        } catch (const Error& error) {
            const std::string message = error.what();
            const bool told = message.find("File too large") != std::string::npos &&
                              message.find(path + ".") != std::string::npos;
            std::exit(told ? 42 : 1);
        }
    }));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

}  // namespace
}  // namespace ringscope::trace
