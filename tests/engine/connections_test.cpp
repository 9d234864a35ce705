// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/connections.hpp"

#include <gtest/gtest.h>

#include "tests/engine/support.hpp"

namespace ringscope::engine::host {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;

/// On four ranks a ring sends to one peer and two-shot to three.
TEST(Connections, ServeThePlansThatNeedNoOthers) {
    const schedule::Plan ring = plan_of("ring-simple", 4, 4096, {}), all = plan_of("two-shot", 4, 4096, {});
    run_as_threads(4, [&](Bootstrap& bootstrap) {
        const Connections of_ring{bootstrap, ring}, of_all{bootstrap, all};
        EXPECT_TRUE(of_ring.serve(plan_of("ring-simple", 4, 100'000, {})));
        EXPECT_FALSE(of_ring.serve(all));
        EXPECT_TRUE(of_all.serve(ring));
    });
}

/// A schedule may have other peers at another size.
TEST(Connections, OnePlanMoreThanTheyServe_GetsNewOnes) {
    const std::vector<schedule::Plan> plans{
        plan_of("ring-simple", 4, 4096, {}), plan_of("two-shot", 4, 4096, {}),
        plan_of("ring-simple", 4, 8192, {})};
    run_as_threads(4, [&](Bootstrap& bootstrap) {
        HostEngine engine{bootstrap, {.oversubscribed = true}};
        for (const schedule::Plan& plan : plans) {
            const auto collective = engine.prepare("key", plan, DataType::int32, ReduceOp::sum).collective;
            const std::vector<std::int32_t> input(static_cast<std::size_t>(plan.request.bytes) / 4, 1);
            std::vector<std::int32_t> output(input.size());
            bootstrap.barrier();
            collective->run(
                reinterpret_cast<const std::byte*>(input.data()), reinterpret_cast<std::byte*>(output.data())
            );
            EXPECT_EQ(output, std::vector<std::int32_t>(input.size(), 4));
            bootstrap.barrier();
        }
    });
}

}  // namespace
}  // namespace ringscope::engine::host
