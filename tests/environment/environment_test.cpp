// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/environment.hpp"

#include <unistd.h>

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environment/cpu_list.hpp"
#include "tests/environment/fake_root.hpp"

namespace ringscope::environment {
namespace {

TEST(Rank, ReadsTheMachine) {
    const FakeRoot root;
    root.write("/proc/sys/kernel/hostname", "node7\n");
    root.write("/proc/sys/kernel/random/boot_id", "6f1c2d3e-0000-4000-8000-000000000001\n");
    root.write("/sys/devices/system/node/node0/cpulist", "60000\n");
    root.write("/sys/devices/system/node/node12/cpulist", "0-4095\n");
    root.write("/sys/devices/system/node/online", "0,12\n");
    const auto rank = capture_rank(3, Sources{root.path(), {}});
    EXPECT_EQ(rank.rank, 3);
    EXPECT_EQ(rank.host, "node7");
    EXPECT_EQ(rank.boot_id, "6f1c2d3e-0000-4000-8000-000000000001");
    EXPECT_EQ(rank.pid, getpid());
    EXPECT_EQ(rank.cpuset, format_cpu_list(allowed_cpu_list()));
    EXPECT_EQ(rank.numa_node, 12);
    EXPECT_TRUE(rank.gpu_name.empty() && rank.gpu_uuid.empty() && rank.gpu_pci_id.empty());
}

TEST(Rank, WithoutSourcesSaysSo) {
    const FakeRoot root;
    const auto rank = capture_rank(0, Sources{root.path(), {}});
    EXPECT_EQ(rank.host, "unavailable");
    EXPECT_EQ(rank.boot_id, "unavailable");
    EXPECT_EQ(rank.numa_node, -1);
}

TEST(Rank, OddNodesAreNoNode) {
    const FakeRoot root;
    root.write("/sys/devices/system/node/node0/cpulist", "odd\n");
    root.write("/sys/devices/system/node/nodes/cpulist", "0-4095\n");
    EXPECT_EQ(capture_rank(0, Sources{root.path(), {}}).numa_node, -1);
}

TEST(Uuid, IsRandomOfVersionFour) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const std::string uuid = run_uuid();
        EXPECT_THAT(
            uuid, testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
        );
        seen.insert(uuid);
    }
    EXPECT_EQ(seen.size(), 100u);
}

TEST(Time, IsIso8601InUtc) {
    EXPECT_THAT(
        iso8601_now(), testing::MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
    );
}

}  // namespace
}  // namespace ringscope::environment
