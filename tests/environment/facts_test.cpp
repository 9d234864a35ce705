// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environment/environment.hpp"
#include "tests/environment/fake_root.hpp"

namespace ringscope::environment {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Values = std::map<std::string, std::string>;

Values facts_of(const FakeRoot& root, const std::vector<std::string>& variables = {}) {
    Values values;
    for (const auto& fact : capture_facts(Sources{root.path(), variables})) {
        EXPECT_TRUE(values.emplace(fact.name, fact.value).second) << fact.name << " twice";
    }
    return values;
}

std::vector<std::string> names_of(const Values& values) {
    std::vector<std::string> names;
    for (const auto& [name, value] : values) names.push_back(name);
    return names;
}

void write_machine(const FakeRoot& root) {
    root.write("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    root.write("/proc/sys/kernel/version", "#1 SMP Debian 6.1.76-1\n");
    root.write("/etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    root.write("/proc/cpuinfo", "processor\t: 0\nmodel\t\t: 143\nmodel name\t: Xeon Platinum 8480C\n");
    root.write("/proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
    root.write("/proc/loadavg", "0.43 0.14 0.06 1/200 4242\n");
    root.write(
        "/proc/self/limits",
        "Limit  Soft  Hard  Units\nMax locked memory         8388608   unlimited   bytes\n"
        "Max open files            1024   1048576   files\nMax processes             unlimited   unlimited   "
        "processes\n"
    );
    root.write("/sys/devices/system/cpu/online", "0-1\n");
    root.write("/sys/devices/system/cpu/smt/active", "0\n");
    root.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    root.write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    root.write("/sys/devices/system/node/online", "0\n");
    root.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    root.write("/sys/module/nvidia/version", "580.95.05\n");
    root.write("/dev/shm/x", "");
}

TEST(Facts, AreReadFromTheMachine) {
    const FakeRoot root;
    write_machine(root);
    const Values facts = facts_of(root);
    EXPECT_EQ(facts.at("kernel.release"), "6.1.0-18-amd64");
    EXPECT_EQ(facts.at("os"), "Debian GNU/Linux 12 (bookworm)");
    EXPECT_EQ(facts.at("cpu.model"), "Xeon Platinum 8480C");
    EXPECT_EQ(facts.at("cpu.governor"), "performance");
    EXPECT_EQ(facts.at("clocksource"), "tsc");
    EXPECT_EQ(facts.at("memory.total"), "16384 kB");
    EXPECT_EQ(facts.at("memory.huge_pages"), "always [madvise] never");
    EXPECT_EQ(facts.at("limit.memlock"), "8388608");
    EXPECT_EQ(facts.at("limit.nofile"), "1024");
    EXPECT_EQ(facts.at("limit.nproc"), "unlimited");
    EXPECT_EQ(facts.at("nvidia.driver"), "580.95.05");
    EXPECT_EQ(facts.at("load.average"), "0.43 0.14 0.06 1/200 4242");
    EXPECT_GT(std::stoll(facts.at("shm.bytes")), 0);
    EXPECT_LE(std::stoll(facts.at("shm.free_bytes")), std::stoll(facts.at("shm.bytes")));
}

TEST(Facts, MissingSourceIsUnavailableNotAbsent) {
    const FakeRoot full, empty;
    write_machine(full);
    const Values facts = facts_of(empty);
    EXPECT_EQ(names_of(facts), names_of(facts_of(full)));
    for (const char* name :
         {"kernel.release", "os", "cpu.model", "cpu.governor", "clocksource", "cgroup.cpu.max",
          "cgroup.memory.max", "shm.bytes", "shm.free_bytes", "limit.memlock", "limit.nofile", "limit.nproc",
          "nvidia.driver", "load.average"}) {
        EXPECT_EQ(facts.at(name), "unavailable") << name;
    }
}

TEST(Facts, BuildIsNamed) {
    const Values facts = facts_of(FakeRoot{});
    EXPECT_EQ(facts.at("ringscope.version"), "0.1.0");
    EXPECT_EQ(facts.at("ringscope.version"), program_version());
    EXPECT_FALSE(facts.at("ringscope.revision").empty());
    EXPECT_THAT(facts.at("build.compiler"), testing::MatchesRegex("(GNU|Clang) [0-9.]+"));
}

TEST(Facts, BuildSaysWhetherItHasCuda) {
    EXPECT_EQ(facts_of(FakeRoot{}).at("build.cuda"), has_cuda() ? "on" : "off");
    EXPECT_EQ(has_cuda(), RINGSCOPE_WITH_CUDA != 0);
}

Values gpu_values(const GpuVersions& versions) {
    Values values;
    for (const auto& fact : gpu_facts(versions)) values[fact.name] = fact.value;
    return values;
}

// CUDA's codes are 1000 major + 10 minor.
TEST(Facts, VersionsForGpusAreThoseOfTheLibraries) {
    EXPECT_EQ(
        gpu_values({.cuda_driver = 13000, .cuda_runtime = 12040, .nccl = "2.28.9"}),
        (Values{{"cuda.driver", "13.0"}, {"cuda.runtime", "12.4"}, {"nccl.version", "2.28.9"}})
    );
}

TEST(Facts, VersionsThatNobodyGaveAreUnavailable) {
    EXPECT_EQ(
        gpu_values({}),
        (Values{
            {"cuda.driver", "unavailable"}, {"cuda.runtime", "unavailable"}, {"nccl.version", "unavailable"}})
    );
}

TEST(Cgroup, UnifiedLimitsOfTheOwnFolder) {
    const FakeRoot root;
    root.write("/proc/self/cgroup", "0::/job/rank\n");
    root.write("/sys/fs/cgroup/job/rank/cpu.max", "200000 100000\n");
    root.write("/sys/fs/cgroup/job/rank/memory.max", "max\n");
    root.write("/sys/fs/cgroup/cpu.max", "max 100000\n");
    EXPECT_EQ(facts_of(root).at("cgroup.cpu.max"), "200000 100000");
    EXPECT_EQ(facts_of(root).at("cgroup.memory.max"), "max");
}

TEST(Cgroup, TopWhereAContainerHidesTheOwnFolder) {
    const FakeRoot root;
    root.write("/proc/self/cgroup", "0::/../../host/name\n");
    root.write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    EXPECT_EQ(facts_of(root).at("cgroup.cpu.max"), "50000 100000");
}

TEST(Cgroup, VersionOne) {
    const FakeRoot root;
    root.write("/proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n");
    root.write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    root.write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    root.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
    root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(facts_of(root).at("cgroup.cpu.max"), "max 100000");
    EXPECT_EQ(facts_of(root).at("cgroup.memory.max"), "1073741824");
}

std::vector<std::string> recorded(const std::vector<std::string>& variables) {
    std::vector<std::string> texts;
    for (const auto& fact : recorded_variables(variables)) texts.push_back(fact.name + "=" + fact.value);
    return texts;
}

TEST(Variables, OfTheLibrariesAreRecordedInOrder) {
    EXPECT_THAT(
        recorded(
            {"UCX_TLS=shm", "NCCL_DEBUG=INFO", "OMP_NUM_THREADS=", "CUDA_VISIBLE_DEVICES=0,1=2",
             "SLURM_JOB_ID=7", "RINGSCOPE_PLUGIN_PATH=/a", "OMPI_COMM_WORLD_SIZE=4"}
        ),
        ElementsAre(
            "env.CUDA_VISIBLE_DEVICES=0,1=2", "env.NCCL_DEBUG=INFO", "env.OMPI_COMM_WORLD_SIZE=4",
            "env.OMP_NUM_THREADS=", "env.RINGSCOPE_PLUGIN_PATH=/a", "env.SLURM_JOB_ID=7", "env.UCX_TLS=shm"
        )
    );
}

TEST(Variables, OfCudaAndNcclAreRecorded) {
    const std::vector<std::string> variables{
        "CUDA_DEVICE_MAX_CONNECTIONS=1",
        "CUDA_LAUNCH_BLOCKING=1",
        "CUDA_MODULE_LOADING=LAZY",
        "CUDA_VISIBLE_DEVICES=1,0",
        "NCCL_ALGO=Ring",
        "NCCL_CUMEM_ENABLE=0",
        "NCCL_IB_PKEY=0",
        "NCCL_P2P_LEVEL=NVL",
        "NCCL_PROTO=LL"};
    std::vector<std::string> expected;
    for (const std::string& variable : variables) expected.push_back("env." + variable);
    EXPECT_EQ(recorded(variables), expected);
}

TEST(Variables, OthersAndSecretsAreNot) {
    EXPECT_THAT(
        recorded(
            {"HOME=/root", "PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "NCCL_TOKEN=x", "UCX_api_key=x",
             "OMPI_PASSWORD=x", "CUDA_CREDENTIALS=x", "SLURM_JOB_ACCOUNT=x", "SLURM_JOB_USER=x",
             "MYNCCL_DEBUG=1", "OMPI_MCA_orte_precondition_transports=x", "NCCL_DEBUG",
             "OMPI_MCA_orte_hnp_uri=x", "OMPI_MCA_initial_wdir=/a", "OMPI_ARGV=run x.yaml",
             "OMPI_FILE_LOCATION=/tmp/x"}
        ),
        IsEmpty()
    );
}

TEST(Variables, OfThisProcessAreTheDefault) {
    ASSERT_EQ(setenv("RINGSCOPE_TEST_FACT", "seen", 1), 0);
    const auto facts = capture_facts();
    EXPECT_TRUE(std::ranges::any_of(facts, [](const auto& fact) {
        return fact.name == "env.RINGSCOPE_TEST_FACT" && fact.value == "seen";
    }));
    unsetenv("RINGSCOPE_TEST_FACT");
}

}  // namespace
}  // namespace ringscope::environment
