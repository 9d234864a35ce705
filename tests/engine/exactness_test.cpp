// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>
#include <tuple>

#include "engine/local_copy.hpp"
#include "tests/effort.hpp"
#include "tests/engine/support.hpp"

namespace ringscope::engine::host {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;
using testing::IsEmpty;

struct Numbers {
    DataType dtype = DataType::float32;
    ReduceOp op = ReduceOp::sum;
};

/// A plan and the number of elements in it; all steps of a series share one connection set.
struct Step {
    std::int64_t count;
    schedule::Plan plan;
};

/// Every step out of place and in place, aligned and shifted by an element, on one rank. Buffers are within
/// reach of the other ranks, all in the same memory, so that one operation's input is the last one's; or each
/// has its own.
class Series {
 public:
    Series(int ranks, Numbers numbers, std::vector<Step> steps, bool within_reach)
        : ranks_{ranks},
          within_reach_{within_reach},
          numbers_{numbers},
          steps_{std::move(steps)},
          verifier_{verify::Pattern{numbers.dtype, numbers.op, ranks, VerifyMode::exact}},
          hashes_(static_cast<std::size_t>(ranks)) {}

    void run(std::int64_t delay_us) {
        run_as_threads(ranks_, [&](Bootstrap& bootstrap) {
            HostEngine engine{bootstrap, {.wait_ns = 60'000'000'000, .oversubscribed = ranks_ > 2}};
            std::minstd_rand random{static_cast<unsigned>(bootstrap.rank()) + 1};
            std::uint64_t seed = 0;
            for (const Step& step : steps_) {
                const std::int64_t room = 2 * verify::GuardLayout{step.plan.request.bytes, 16}.total;
                const PreparedOnHost prepared = engine.prepare(
                    "one key", step.plan, numbers_.dtype, numbers_.op, within_reach_ ? room : 0
                );
                for (const bool in_place : {false, true}) {
                    for (const std::int64_t offset : {0, 1}) {
                        if (delay_us > 0 && random() % 4 == 0) {
                            std::this_thread::sleep_for(std::chrono::microseconds{
                                random() % static_cast<unsigned>(delay_us)});
                        }
                        operate(prepared, bootstrap.rank(), {step.count, in_place, offset}, ++seed);
                    }
                }
            }
            bootstrap.barrier();
        });
    }

    void expect_right() const {
        EXPECT_THAT(faults_.texts(), IsEmpty());
        for (const auto& hashes : hashes_) EXPECT_EQ(hashes, hashes_[0]) << "ranks have different bits";
    }

 private:
    struct Shape {
        std::int64_t count;
        bool in_place;
        std::int64_t offset;
    };

    void operate(const PreparedOnHost& prepared, int rank, Shape shape, std::uint64_t seed) {
        const auto [count, in_place, offset] = shape;
        const std::int64_t element = size_of(numbers_.dtype);
        std::byte* memory = prepared.user_memory;
        const auto make = [&, skew = offset * element](std::int64_t bytes) {
            if (memory == nullptr) return verify::GuardedBuffer{bytes, skew};
            std::byte* const begin = memory;
            memory += verify::GuardLayout{bytes, skew}.total;
            return verify::GuardedBuffer{bytes, skew, begin};
        };
        verify::GuardedBuffer input = make(in_place ? 0 : count * element), output = make(count * element);
        output.poison();
        verifier_.pattern().fill(in_place ? output.data() : input.data(), rank, count, seed);
        prepared.collective->run(in_place ? output.data() : input.data(), output.data());
        const verify::Verdict verdict = verifier_.check(output, in_place ? nullptr : &input, rank, seed);
        if (!verdict.ok()) faults_.add(std::to_string(count) + " elements, " + verdict.what);
        hashes_[static_cast<std::size_t>(rank)].push_back(verdict.hash);
    }

    int ranks_;
    bool within_reach_;
    Numbers numbers_;
    std::vector<Step> steps_;
    verify::Verifier verifier_;
    std::vector<std::vector<std::uint64_t>> hashes_;
    Faults faults_;
};

std::vector<Step> steps_of(
    const std::string& id, int ranks, const Layout& layout, DataType dtype,
    const std::vector<std::int64_t>& counts
) {
    std::vector<Step> steps;
    for (const std::int64_t count : counts)
        steps.push_back({count, plan_of(id, ranks, count * size_of(dtype), layout)});
    return steps;
}

void expect_exact(
    const std::string& id, int ranks, const Layout& layout, Numbers numbers,
    const std::vector<std::int64_t>& counts, std::int64_t delay_us = 0
) {
    SCOPED_TRACE(
        id + " N=" + std::to_string(ranks) + " slots=" + std::to_string(layout.slots) +
        " slot_bytes=" + std::to_string(layout.slot_bytes) + " channels=" + std::to_string(layout.channels) +
        " " + std::string{name_of(numbers.dtype)} + " " + std::string{name_of(numbers.op)}
    );
    for (const bool within_reach : {false, true}) {
        if (within_reach && algorithm_of(id).protocol != RINGSCOPE_SIMPLE) continue;
        Series series{ranks, numbers, steps_of(id, ranks, layout, numbers.dtype, counts), within_reach};
        series.run(delay_us);
        series.expect_right();
    }
}

class Exactness : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
    const std::string id_ = std::get<0>(GetParam());
    const int ranks_ = std::get<1>(GetParam());
};

/// Large and small in turn, so that what a long message left in the slots is there to be taken for a short
/// one's.
TEST_P(Exactness, SizesInTurn_OnOneConnectionSet) {
    const std::int64_t n = ranks_;
    const std::vector<std::int64_t> counts{65537, 0, 1023, 1, 129, n - 1, 128, n, 127, n + 1, 2, 1023, 1};
    expect_exact(id_, ranks_, {3, 4096, 1}, {DataType::float32, ReduceOp::sum}, counts);
    expect_exact(id_, ranks_, {4, 64, 2}, {DataType::uint8, ReduceOp::max}, counts);
    if (sanitized) return;  // the same code with other numbers
    expect_exact(id_, ranks_, {5, 4096, 3}, {DataType::float16, ReduceOp::avg}, counts);
    expect_exact(id_, ranks_, {7, 4096, 2}, {DataType::int64, ReduceOp::sum}, counts);
}

TEST_P(Exactness, RandomDelays_BetweenOperations) {
    const std::int64_t n = ranks_;
    const std::vector<std::int64_t> counts{1023, 1, 127, n + 1, 1023, 2, 129, 0, n - 1, 1023, n, 128, 1};
    expect_exact(id_, ranks_, {6, 64, 1}, {DataType::int32, ReduceOp::sum}, counts, 400);
    if (sanitized) return;
    expect_exact(id_, ranks_, {8, 64, 3}, {DataType::bfloat16, ReduceOp::min}, counts, 400);
    expect_exact(id_, ranks_, {3, 64, 2}, {DataType::float64, ReduceOp::prod}, counts, 400);
}

std::string test_name(const testing::TestParamInfo<std::tuple<std::string, int>>& info) {
    return test_word(std::get<0>(info.param)) + "_on_" + std::to_string(std::get<1>(info.param));
}

std::vector<int> rank_counts() {
    if (sanitized) return {2, 3};
    return {2, 3, 4, 5, 6, 7, 8};
}

INSTANTIATE_TEST_SUITE_P(
    Engine, Exactness, testing::Combine(testing::ValuesIn(shapes), testing::ValuesIn(rank_counts())),
    test_name
);

class EveryNumber : public testing::TestWithParam<std::string> {};

TEST_P(EveryNumber, AllTypesTimesAllOperations) {
    for (int type = 0; type < RINGSCOPE_DTYPE_COUNT; ++type) {
        const auto dtype = static_cast<DataType>(type);
        if (!reduce::has(dtype) || (sanitized && type % 3 != 0)) continue;
        for (int op = 0; op < RINGSCOPE_REDUCTION_COUNT; op += sanitized ? 2 : 1) {
            expect_exact(GetParam(), 3, {3, 256, 1}, {dtype, static_cast<ReduceOp>(op)}, {257});
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Engine, EveryNumber, testing::ValuesIn(all_algorithms), test_name_of_id);

TEST(LocalCopy, SingleRank_CopiesOrLeavesInPlace) {
    for (const std::int64_t bytes : {0, 1, 127, 65537}) {
        verify::GuardedBuffer input{bytes}, output{bytes};
        const verify::Verifier verifier{
            verify::Pattern{DataType::uint8, ReduceOp::avg, 1, VerifyMode::exact}};
        verifier.pattern().fill(input.data(), 0, bytes, 1);
        LocalCopy copy{bytes};
        EventLog log{4};
        copy.run(input.data(), output.data());
        EXPECT_EQ(verifier.check(output, &input, 0, 1).what, "");
        copy.run_traced(output.data(), output.data(), log);
        EXPECT_EQ(verifier.check(output, nullptr, 0, 1).what, "");
        EXPECT_THAT(log.events(), IsEmpty());
    }
}

TEST(HostEngine, ProtocolsThatItHas) {
    EXPECT_TRUE(HostEngine::has(Protocol::ll));
    EXPECT_TRUE(HostEngine::has(Protocol::ll128));
    EXPECT_TRUE(HostEngine::has(Protocol::simple));
    constexpr auto unknown = static_cast<Protocol>(RINGSCOPE_PROTOCOL_COUNT);
    EXPECT_FALSE(HostEngine::has(unknown));
    EXPECT_THROW((void)HostEngine::format(unknown), Error);
}

}  // namespace
}  // namespace ringscope::engine::host
