// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/engine/support.hpp"

namespace ringscope::engine::host {
namespace {

using bootstrap::Bootstrap;

struct Shape {
    std::int64_t count;
    Cached cached;
    bool in_place, within_reach;
};

/// One average of float16 whose results are stored past the caches, as those of messages are that are longer
/// than these, or all but the own ones. Gives what is wrong on any rank.
std::vector<std::string> play(const std::string& id, int ranks, const Shape& shape) {
    const std::int64_t bytes = shape.count * 2, room = verify::GuardLayout{bytes, 2}.total;
    const schedule::Plan plan = plan_of(id, ranks, bytes, {6, 4096, 1});
    const verify::Verifier verifier{
        verify::Pattern{DataType::float16, ReduceOp::avg, ranks, VerifyMode::exact}};
    Control control{};
    Faults faults;
    bootstrap::run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        const int rank = bootstrap.rank();
        Connections connections{bootstrap, plan};
        const auto memory = UserMemory::reserve(bootstrap, 2 * room);
        const std::vector<ReadyOp> ops = connections.make_ready(plan, ranks, Simple::min_part_bytes);
        verify::GuardedBuffer input{bytes, 2, memory->own()}, output{bytes, 2, memory->own() + room};
        const std::byte* const from = shape.in_place ? output.data() : input.data();
        verifier.pattern().fill(shape.in_place ? output.data() : input.data(), rank, shape.count, 1);
        Buffers buffers{
            from, output.data(), 2, reduce::reduce_copy(DataType::float16, ReduceOp::avg), shape.cached};
        if (shape.within_reach) buffers.distances = memory->distances(from, output.data(), bytes);
        Scratch scratch{static_cast<std::size_t>(ranks), Simple::block_bytes};
        Waiter waiter{control, rank, 20'000'000'000, true};
        NoProbe none;
        bootstrap.barrier();
        interpret<Simple>(ops, buffers, scratch, waiter, none);
        const std::string what = verifier.check(output, shape.in_place ? nullptr : &input, rank, 1).what;
        if (!what.empty()) faults.add("rank " + std::to_string(rank) + ": " + what);
        bootstrap.barrier();
    });
    return faults.texts();
}

std::vector<Shape> shapes(std::int64_t count) {
    std::vector<Shape> all;
    for (const Cached cached : {Cached::none, Cached::own}) {
        for (const bool in_place : {false, true}) {
            for (const bool within_reach : {false, true})
                all.push_back({count, cached, in_place, within_reach});
        }
    }
    return all;
}

/// Counts that leave a rank without work, that end in the middle of a block and of a line, and of many parts.
TEST(PastCaches, AllSchedules_AreExact) {
    for (const std::string id :
         {"ring-simple", "tree-simple", "two-shot", "parameter-server", "halving-doubling"}) {
        for (const int ranks : sanitized ? std::vector{3} : std::vector{2, 3, 5}) {
            for (const std::int64_t count : {1, 127, 2049, 65537}) {
                for (const Shape& shape : shapes(count)) {
                    EXPECT_EQ(play(id, ranks, shape), std::vector<std::string>{})
                        << id << " N=" << ranks << " count " << count
                        << (shape.cached == Cached::own ? " but the own" : "")
                        << (shape.in_place ? " in place" : "") << (shape.within_reach ? " within reach" : "");
                }
            }
        }
    }
}

}  // namespace
}  // namespace ringscope::engine::host
