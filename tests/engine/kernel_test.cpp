// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/kernel.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/engine/support.hpp"

namespace ringscope::engine::host {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;

std::atomic<int> alive{0};

/// A kernel that does nothing, or fails behind a wait that had an end.
struct Kernel {
    ringscope_kernel_request request;

    static std::int64_t window_bytes(const ringscope_kernel_request*) { return 4096; }
    static std::int32_t create(const ringscope_kernel_request* request, void** kernel) {
        *kernel = new Kernel{*request};
        ++alive;
        return RINGSCOPE_OK;
    }
    static std::int32_t create_but_on_rank_1(const ringscope_kernel_request* request, void** kernel) {
        return request->rank == 1 ? RINGSCOPE_FAILED : create(request, kernel);
    }
    static std::int32_t fail(void* kernel, const void*, void*) {
        const auto& request = static_cast<Kernel*>(kernel)->request;
        EXPECT_EQ(request.keep_waiting(request.wait, 0), 1);
        return RINGSCOPE_FAILED;
    }
    static void destroy(void* kernel) {
        delete static_cast<Kernel*>(kernel);
        --alive;
    }
};

TEST(Kernel, OneThatCannotBeCreatedOnOneRank_IsDestroyedOnTheOthers) {
    const ringscope_host_kernel table{
        Kernel::window_bytes, Kernel::create_but_on_rank_1, Kernel::fail, Kernel::destroy};
    run_as_threads(3, [&](Bootstrap& bootstrap) {
        HostEngine engine{bootstrap, {}};
        EXPECT_THROW(
            (void)engine.prepare_kernel(table, 16, DataType::int32, ReduceOp::sum), bootstrap::AgreedError
        );
    });
    EXPECT_EQ(alive, 0);
}

TEST(Kernel, OneThatFailsForAReasonOfItsOwn_IsNoTimeout) {
    const ringscope_host_kernel table{Kernel::window_bytes, Kernel::create, Kernel::fail, Kernel::destroy};
    run_as_threads(2, [&](Bootstrap& bootstrap) {
        HostEngine engine{bootstrap, {}};
        const auto collective = engine.prepare_kernel(table, 16, DataType::int32, ReduceOp::sum);
        std::vector<std::byte> input(64), output(64);
        try {
            collective->run(input.data(), output.data());
            ADD_FAILURE() << "it did not fail";
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::internal) << e.what();
        }
        EXPECT_EQ(engine.control().abort.load(), 0U);
        bootstrap.barrier();
    });
    EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace ringscope::engine::host
