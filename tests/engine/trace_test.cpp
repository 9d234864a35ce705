// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <thread>

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

/// One traced operation on ranks as threads, whose ops `change` may alter. Gives each rank's events and the
/// ops that they are of.
struct Traced {
    std::vector<RawEvent> events;
    std::vector<ReadyOp> ops;
};
template <class Link>
std::vector<Traced> trace_once(
    const schedule::Plan& plan, reduce::ReduceCopy reduce_copy, const std::function<void(int)>& start,
    const Change& change = {}
) {
    const auto bytes = static_cast<std::size_t>(plan.request.bytes);
    std::vector<Traced> all(static_cast<std::size_t>(plan.request.ranks));
    Control control{};
    run_as_threads(plan.request.ranks, [&](Bootstrap& bootstrap) {
        Connections connections{bootstrap, plan};
        Traced& traced = all[static_cast<std::size_t>(bootstrap.rank())];
        traced.ops = connections.make_ready(plan, 0, Link::min_part_bytes);
        if (change) change(bootstrap.rank(), traced.ops);
        std::vector<std::byte> input(bytes), output(bytes);
        const Buffers buffers{input.data(), output.data(), 4, reduce_copy};
        Scratch scratch{2, Link::block_bytes};
        Waiter waiter{control, bootstrap.rank(), 20'000'000'000, true};
        EventLog log{1000};
        TraceProbe probe{traced.ops};
        start(bootstrap.rank());
        bootstrap.barrier();
        probe.start(log, 1);
        (void)probe.enter();
        interpret<Link>(traced.ops, buffers, scratch, waiter, probe);
        (void)probe.leave();
        probe.finish();
        traced.events.assign(log.events().begin(), log.events().end());
        bootstrap.barrier();
    });
    return all;
}

thread_local std::int64_t reduction_ns = 0;

void reduce_slowly(
    const std::byte* const*, int, std::byte* const*, int, std::int64_t, std::int32_t /*divisor*/
) {
    std::this_thread::sleep_for(std::chrono::nanoseconds{reduction_ns});
}

/// Blocks of a message are summed up one after the other, and rank 1 takes twice as long as the others, so
/// that its successor waits for its last blocks. What the sums took is not waiting.
template <class Link>
void expect_waits_without_work(const std::string& id) {
    const std::int64_t blocks = 8;
    const schedule::Plan plan = plan_of(id, 3, 3 * blocks * Link::block_bytes, {4, 32768, 1});
    const auto pace = [](int rank) { reduction_ns = rank == 1 ? 4 * delay_ns : 2 * delay_ns; };
    const auto ranks = trace_once<Link>(plan, reduce_slowly, pace);
    int sums = 0;
    for (int rank = 0; rank < 3; ++rank) {
        for (const RawEvent& e : ranks[static_cast<std::size_t>(rank)].events) {
            const auto& ops = ranks[static_cast<std::size_t>(rank)].ops;
            const auto op = std::ranges::find(ops, e.op, &ReadyOp::index);
            if (op->local_at < 0 || op->recvs.empty()) continue;
            ++sums;
            EXPECT_LE(e.wait_ns, e.end_ns - e.begin_ns - blocks * (rank == 1 ? 4 : 2) * delay_ns)
                << id << " rank " << rank << " op " << e.op;
        }
    }
    EXPECT_EQ(sums, 3 * 2 * 2);  // two steps, and an event for what is received and one for what is sent
}

TEST(Trace, WaitsInTheMiddleOfAMessage_LeaveOutTheWorkBetweenThem) {
    expect_waits_without_work<LowLatency>("ring-ll");
    expect_waits_without_work<LowLatency128>("ring-ll128");
}

/// The last op that has messages is not the last op.
TEST(Trace, ClosingOpWithoutMessages_LeavesNoStampOut) {
    const schedule::Plan plan = plan_of("ring-simple", 2, 8192, {4, 8192, 1});
    const auto copy_at_the_end = [](int, std::vector<ReadyOp>& ops) {
        ReadyOp last;
        last.index = 100;
        last.local_at = 0;
        last.local_is_output = last.store = true;
        last.bytes = ops.front().bytes;
        ops.push_back(last);
    };
    const auto sum = reduce::reduce_copy(DataType::int32, ReduceOp::sum);
    for (const Traced& traced : trace_once<Simple>(
             plan, sum, [](int) {}, copy_at_the_end
         )) {
        ASSERT_EQ(traced.events.size(), 4U);
        for (const RawEvent& e : traced.events) {
            EXPECT_GT(e.begin_ticks, 0);
            EXPECT_LE(e.begin_ticks, e.ready_ticks);
            EXPECT_LE(e.ready_ticks, e.end_ticks);
        }
    }
}

}  // namespace
}  // namespace ringscope::engine::host
