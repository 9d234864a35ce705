// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/bench/support.hpp"
#include "tests/trace/samples.hpp"

namespace ringscope::bench {
namespace {

/// A sanitizer on a busy machine may keep a rank from running for seconds.
const std::vector<std::string> patient{"timeout.wait=100s", "timeout.case=500s"};

int runs() {
    const char* text = std::getenv("RINGSCOPE_SANITIZE_RUNS");
    return text == nullptr ? 1 : std::atoi(text);
}

/// configs/sanitize.yaml as users run it, with four ranks as threads, so that a sanitizer sees all of them.
/// More often with RINGSCOPE_SANITIZE_RUNS=200 in the environment.
TEST(Sanitize, WholeFile_OnFourThreads) {
    const std::string path = RINGSCOPE_CONFIGS "/sanitize.yaml";
    const trace::testing::Folder folder;
    for (int run = 0; run < runs(); ++run) {
        const Experiment experiment = experiment_of(read_experiment_file(path), patient);
        const std::string output = folder.file("run" + std::to_string(run) + ".h5");
        std::ostringstream table;
        const auto reporter = report::make_reporter(report::Format::table, table);
        trace::RunInfo info = trace::testing::run_info();
        info.epoch_monotonic_ns = 0;
        info.world_size = 4;
        trace::TraceWriter writer{output, info, false};

        const Outcome outcome = run_on_threads(experiment, 4, {reporter.get(), &writer});
        writer.finish(outcome.lossy);
        ASSERT_EQ(outcome.code, ExitCode::ok) << outcome.first_fault << "\n" << table.str();
        // 2 algorithms, 2 modes, 2 offsets, 9 sizes, 2 places; a ring of 4 has 4 links, which carry nothing
        // for 0 bytes.
        EXPECT_EQ(outcome.traffic.cases_checked, 144);
        EXPECT_EQ(outcome.traffic.links_equal, outcome.traffic.links_checked);
        EXPECT_FALSE(outcome.lossy);
        EXPECT_TRUE(std::filesystem::exists(output));
        std::filesystem::remove(output);
    }
}

}  // namespace
}  // namespace ringscope::bench
