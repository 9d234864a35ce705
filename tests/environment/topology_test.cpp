// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringscope::environment {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Topology, IsHwlocsOfThisMachine) {
    const Topology found = capture_topology();
    if (!RINGSCOPE_WITH_HWLOC) {
        EXPECT_EQ(found.version, "unavailable");
        EXPECT_EQ(found.xml, "");
        return;
    }
    EXPECT_THAT(found.version, StartsWith("2."));
    EXPECT_THAT(found.xml, StartsWith("<?xml"));
    EXPECT_THAT(found.xml, HasSubstr("type=\"Machine\""));
    EXPECT_THAT(found.xml, HasSubstr("type=\"PU\""));
}

TEST(Topology, AnotherRootHasNone) {
    const Topology found = capture_topology(Sources{"/tmp", {}});
    EXPECT_EQ(found.version, "unavailable");
    EXPECT_EQ(found.xml, "");
}

}  // namespace
}  // namespace ringscope::environment
