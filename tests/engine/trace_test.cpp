// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/time.hpp"
#include "bench/host_gate.hpp"
#include "bench/statistics.hpp"
#include "tests/effort.hpp"
#include "tests/engine/support.hpp"

namespace ringscope::engine::host {
namespace {

using bootstrap::Bootstrap;
using bootstrap::run_as_threads;

constexpr int repetitions = 41;
constexpr std::int64_t delay_ns = 1'000'000;

/// The processor's counter against the system's clock, within a sample.
constexpr std::int64_t stamps_apart_ns = 2'000;

/// A tracer that is held up before one op, as a slow rank would be.
class DelayedProbe : public TraceProbe {
 public:
    DelayedProbe(std::span<const ReadyOp> ops, std::int32_t delayed_op)
        : TraceProbe{ops}, delayed_op_{delayed_op} {}
    void begin(const ReadyOp& op) {
        TraceProbe::begin(op);
        if (op.index != delayed_op_) return;
        for (const std::int64_t end = now_ns() + delay_ns; now_ns() < end;) {
        }
    }

 private:
    std::int32_t delayed_op_;
};

/// (rank, op, direction) -> ready - begin of every repetition, in ns.
using Waits = std::map<std::tuple<int, std::int32_t, trace::Direction>, std::vector<double>>;

/// Two ranks; rank 0 is held up before op `delayed_op` (none for -1).
Waits play(std::int32_t delayed_op) {
    const schedule::Plan plan = plan_of("ring-simple", 2, 8192, {4, 8192, 1});
    Control control{};
    Waits waits;
    std::mutex mutex;
    run_as_threads(2, [&](Bootstrap& bootstrap) {
        const int rank = bootstrap.rank();
        Connections connections{bootstrap, plan};
        const auto ops = connections.make_ready(plan, 0, Simple::min_part_bytes);
        Scratch scratch{2, Simple::block_bytes};
        Waiter waiter{control, rank, 20'000'000'000, false};
        bench::HostGate gate{control, rank, 2, StartMode::window, waiter, false};
        std::vector<std::byte> input(8192), output(8192);
        const Buffers buffers{
            input.data(), output.data(), 4, reduce::reduce_copy(DataType::int32, ReduceOp::sum)};
        for (int i = 0; i < repetitions; ++i) {
            EventLog log{16};
            DelayedProbe probe{ops, rank == 0 ? delayed_op : -1};
            (void)gate.pass();
            probe.start(log, 1);
            (void)probe.enter();
            interpret<Simple>(ops, buffers, scratch, waiter, probe);
            (void)probe.leave();
            probe.finish();
            const std::lock_guard lock{mutex};
            for (const RawEvent& e : log.events()) {
                waits[{rank, e.op, e.direction}].push_back(static_cast<double>(e.ready_ns - e.begin_ns));
            }
        }
        bootstrap.barrier();
    });
    return waits;
}

/// Ops of rank 1 whose receive became ready later by the delay, and what any other receive or send moved by
/// at most.
struct Moved {
    double matching_ns = 0, others_ns = 0;
};

Moved measure() {
    const Waits before = play(-1), after = play(0);
    Moved moved;
    for (const auto& [key, waits] : before) {
        const auto [rank, op, direction] = key;
        const double difference = bench::median(after.at(key)) - bench::median(waits);
        const bool held_up = rank == 0 && op == 0;
        const bool matching = rank == 1 && op == 1 && direction == trace::Direction::recv;
        // An op's send takes its credit after its data is there: it starts later with them, it does not wait
        // longer.
        const bool same_op = rank == 1 && op == 1;
        if (matching) moved.matching_ns = difference;
        if (!held_up && !same_op) moved.others_ns = std::max(moved.others_ns, std::abs(difference));
    }
    return moved;
}

/// Ring, N = 2: op 0 sends, op 1 receives it, reduces and sends on, op 2 receives. Rank 1 receives rank 0's
/// op 0 in its op 1.
TEST(Trace, SendDelayedByAMillisecond_MovesExactlyTheMatchingReceive) {
    // A sanitizer's own time adds to the waits; less than half of the delay still tells moved from not moved.
    const double tolerance_ns = (sanitized ? 0.45 : 0.1) * delay_ns;
    Moved moved;
    for (int attempt = 0; attempt < 20; ++attempt) {  // a busy machine adds waits of its own
        moved = measure();
        if (std::abs(moved.matching_ns - delay_ns) <= tolerance_ns && moved.others_ns <= tolerance_ns) return;
    }
    ADD_FAILURE() << "the matching receive moved by " << moved.matching_ns << " ns, another by "
                  << moved.others_ns;
}

TEST(Trace, FullLog_DropsTheNewestAndCounts) {
    EventLog log{2};
    for (int i = 0; i < 5; ++i) log.add({.op = i});
    ASSERT_EQ(log.events().size(), 2U);
    EXPECT_EQ(log.events()[1].op, 1);
    EXPECT_EQ(log.dropped(), 3);
}

/// One event per op, direction and peer, begin <= ready <= end, and each op begins where the one before it
/// ended.
TEST(Trace, Events_AreCompleteAndWithoutGaps) {
    for (const std::string& id : all_algorithms) {
        const schedule::Plan plan = plan_of(id, 4, 65536, {4, 1024, 1});
        std::vector<EventLog> logs(4, EventLog{100'000});
        run_as_threads(4, [&](Bootstrap& bootstrap) {
            HostEngine engine{bootstrap, {.oversubscribed = true}};
            const auto collective = engine.prepare("key", plan, DataType::float32, ReduceOp::sum).collective;
            std::vector<std::byte> input(65536), output(65536);
            const Operation operation{input.data(), output.data()};
            collective->arm({&operation, 1}, &logs[static_cast<std::size_t>(bootstrap.rank())]);
            const Timing timing =
                collective->sample_traced({&operation, 1}, logs[static_cast<std::size_t>(bootstrap.rank())]);
            for (const RawEvent& e : logs[static_cast<std::size_t>(bootstrap.rank())].events()) {
                EXPECT_LE(timing.enter_ns, e.begin_ns + stamps_apart_ns);
                EXPECT_LE(e.end_ns, timing.exit_ns + stamps_apart_ns);
            }
            bootstrap.barrier();
        });
        for (int rank = 0; rank < 4; ++rank) {
            const auto events = logs[static_cast<std::size_t>(rank)].events();
            EXPECT_EQ(static_cast<std::int64_t>(events.size()), schedule::events_per_operation(plan, rank))
                << id;
            for (std::size_t i = 0; i < events.size(); ++i) {
                ASSERT_LE(events[i].begin_ns, events[i].ready_ns);
                ASSERT_LE(events[i].ready_ns, events[i].end_ns);
                ASSERT_LE(events[i].wait_ns, events[i].end_ns - events[i].begin_ns);
                const bool next_op = i > 0 && events[i].op != events[i - 1].op;
                if (next_op) {
                    ASSERT_EQ(events[i].begin_ns, events[i - 1].end_ns);
                }
            }
        }
    }
}

}  // namespace
}  // namespace ringscope::engine::host
