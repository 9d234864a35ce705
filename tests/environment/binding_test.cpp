// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/binding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_root.hpp"

namespace ringscope::environment {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Two sockets, each a NUMA node of two cores with two hardware threads: CPUs 0 and 4 are one core.
class Binding : public testing::Test {
 protected:
    Binding() {
        for (int cpu = 0; cpu < 8; ++cpu) {
            const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
            const int core = cpu % 4;
            root_.write(
                folder + "thread_siblings_list", std::to_string(core) + "," + std::to_string(core + 4)
            );
            root_.write(folder + "core_siblings_list", core < 2 ? "0-1,4-5" : "2-3,6-7");
        }
        root_.write("/sys/devices/system/node/node0/cpulist", "0-1,4-5");
        root_.write("/sys/devices/system/node/node1/cpulist", "2-3,6-7");
    }

    [[nodiscard]] std::string fault(std::string_view asked, const std::vector<int>& cpus) const {
        return binding_fault(asked, cpus, {.root = root_.path(), .variables = {}});
    }

    FakeRoot root_;
};

TEST_F(Binding, within_what_was_asked_for_is_no_fault) {
    EXPECT_THAT(fault("hwthread", {5}), IsEmpty());
    EXPECT_THAT(fault("core", {1, 5}), IsEmpty());
    EXPECT_THAT(fault("core", {5}), IsEmpty()) << "less than asked for";
    for (const char* word : {"numa", "socket", "package"}) EXPECT_THAT(fault(word, {2, 3, 6, 7}), IsEmpty());
}

TEST_F(Binding, more_than_asked_for_is_a_fault_that_names_the_cpus) {
    EXPECT_THAT(fault("hwthread", {1, 5}), HasSubstr("CPUs 1,5"));
    EXPECT_THAT(fault("core", {0, 1, 4, 5}), HasSubstr("more than one core"));
    for (const char* word : {"numa", "socket", "package"}) {
        EXPECT_THAT(fault(word, {0, 1, 2}), HasSubstr(word));
    }
}

TEST_F(Binding, other_words_are_not_judged) {
    EXPECT_THAT(fault("none", {0, 1, 2}), IsEmpty());
    EXPECT_THAT(fault("l3cache", {0, 1, 2}), IsEmpty());
}

TEST(BindingWithoutFiles, numa_is_one_node_and_a_core_is_not_known) {
    const FakeRoot empty;
    const Sources sources{.root = empty.path(), .variables = {}};
    EXPECT_THAT(binding_fault("numa", std::vector{0, 7}, sources), IsEmpty());
    EXPECT_THAT(binding_fault("core", std::vector{3}, sources), HasSubstr("does not tell"));
}

trace::RankEnvironment rank(std::int32_t number, const char* host, const char* cpus) {
    trace::RankEnvironment one;
    one.rank = number;
    one.boot_id = host;
    one.cpuset = cpus;
    return one;
}

TEST(Unbound, ranks_of_one_host_may_use_the_same_cpus) {
    EXPECT_THAT(unbound_fault({rank(0, "a", "0-3"), rank(1, "a", "0-3"), rank(2, "b", "0-7")}), IsEmpty());
    EXPECT_THAT(
        unbound_fault({rank(0, "a", "0-3"), rank(1, "b", "0"), rank(2, "b", "1")}),
        HasSubstr("rank 1 may use CPUs 0, rank 2 CPUs 1")
    );
}

}  // namespace
}  // namespace ringscope::environment
