// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/throttling.hpp"

#include <gtest/gtest.h>

#include "tests/environment/fake_root.hpp"

namespace ringscope::environment {
namespace {

Throttling read(const FakeRoot& root) {
    return ThrottlingReader{{.root = root.path()}}.read();
}

TEST(Throttling, Version2CountsMicroseconds) {
    const FakeRoot root;
    root.write("/proc/self/cgroup", "0::/slice/job\n");
    root.write("/sys/fs/cgroup/cpu.stat", "nr_throttled 9\nthrottled_usec 900\n");
    root.write("/sys/fs/cgroup/slice/job/cpu.stat", "usage_usec 7\nnr_throttled 3\nthrottled_usec 42\n");
    EXPECT_EQ(read(root).throttled_ns, 42'000);
}

TEST(Throttling, Version1CountsNanoseconds) {
    const FakeRoot root;
    root.write("/proc/self/cgroup", "4:cpu,cpuacct:/job\n");
    root.write("/sys/fs/cgroup/cpu/job/cpu.stat", "nr_throttled 2\nthrottled_time 1234\n");
    EXPECT_EQ(read(root).throttled_ns, 1234);
}

TEST(Throttling, ThermalEventsOfAllProcessorsAddUp) {
    const FakeRoot root;
    root.write("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n");
    root.write("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms", "500\n");
    root.write("/sys/devices/system/cpu/cpu11/thermal_throttle/package_throttle_count", "4\n");
    root.write("/sys/devices/system/cpu/online", "0-11\n");
    EXPECT_EQ(read(root).thermal_events, 7);
}

TEST(Throttling, ALaterReadingSeesWhatChanged) {
    const FakeRoot root;
    root.write("/sys/fs/cgroup/cpu.stat", "throttled_usec 1\n");
    const ThrottlingReader reader{{.root = root.path()}};
    EXPECT_EQ(reader.read().throttled_ns, 1'000);
    root.write("/sys/fs/cgroup/cpu.stat", "throttled_usec 5\n");
    EXPECT_EQ(reader.read().throttled_ns, 5'000);
}

TEST(Throttling, WhatTheMachineDoesNotTellIsNotZero) {
    const FakeRoot root;
    root.write("/sys/fs/cgroup/cpu.stat", "usage_usec 99\n");
    const Throttling found = read(root);
    EXPECT_EQ(found.throttled_ns, -1);
    EXPECT_EQ(found.thermal_events, -1);
}

}  // namespace
}  // namespace ringscope::environment
