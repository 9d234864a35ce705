// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <random>

#include "engine/cuda/engine.hpp"
#include "engine/cuda/legs.hpp"
#include "tests/engine/support.hpp"

// The work of copy engines' streams, played by a machine that knows no GPU: each lane of each rank goes on
// whenever it may, in an order that is drawn by lot.
namespace ringscope::engine::cuda {
namespace {

using host::algorithm_of;
using testing::IsEmpty;

struct Shape {
    int ranks = 2;
    std::int64_t bytes = 0;
    std::int32_t channels = 1;
    std::int64_t slots = 8, slot_bytes = 256;
};

schedule::Plan plan_of(const std::string& id, const Shape& shape) {
    return schedule::make_plan(
        algorithm_of(id), {.ranks = shape.ranks,
                           .bytes = shape.bytes,
                           .channels = shape.channels,
                           .slots = shape.slots,
                           .slot_bytes = shape.slot_bytes,
                           .link = CudaEngine::format(Protocol::simple)}
    );
}

/// Bytes that are sums of bytes, as the ranks' messages.
using Bytes = std::vector<std::uint8_t>;

/// Rank r contributes this to byte i.
std::uint8_t contribution(int rank, std::size_t i) {
    return static_cast<std::uint8_t>(1 + 7 * static_cast<std::size_t>(rank) + 3 * i);
}

struct Rank {
    Legs legs;
    Bytes input, output;
    std::vector<Bytes> staging;
    std::map<std::int64_t, std::uint64_t> counters;  ///< by their offset in its window
    std::map<std::int64_t, Bytes> slots;
    std::array<std::vector<std::int32_t>, lanes> queue;  ///< legs by lane
    std::array<std::size_t, lanes> next{};
    std::vector<bool> done;
};

/// All ranks of a plan.
class Machine {
 public:
    Machine(const schedule::Plan& plan, bool in_place, unsigned seed)
        : plan_{plan},
          in_place_{in_place},
          lot_{seed},
          starved_{seed / lanes % static_cast<unsigned>(plan.request.ranks), seed % lanes} {
        const Layout layout{plan};
        for (int r = 0; r < plan.request.ranks; ++r) {
            Rank rank;
            rank.legs = make_legs(plan, layout, {.rank = r, .min_part_bytes = 32, .memory = {}});
            for (std::size_t i = 0; i < static_cast<std::size_t>(plan.request.bytes); ++i)
                rank.input.push_back(contribution(r, i));
            rank.output = in_place ? rank.input : Bytes(rank.input.size(), 0xee);
            rank.staging.resize(static_cast<std::size_t>(rank.legs.staging_slots));
            ranks_.push_back(std::move(rank));
        }
    }

    [[nodiscard]] std::vector<Rank>& ranks() { return ranks_; }

    /// Plays one operation; "" when all legs were played and the outputs are right.
    std::string play() {
        for (Rank& rank : ranks_) line_up(rank);
        while (step()) {
        }
        ++operations_;
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            if (std::ranges::count(ranks_[r].done, false) > 0)
                return "rank " + std::to_string(r) + " is stuck";
            for (std::size_t i = 0; i < ranks_[r].output.size(); ++i) {
                if (ranks_[r].output[i] != expected(i)) return "byte " + std::to_string(i) + " is wrong";
            }
        }
        return "";
    }

 private:
    void line_up(Rank& rank) const {
        rank.next = {};
        rank.done.assign(rank.legs.legs.size(), false);
        for (auto& queue : rank.queue) queue.clear();
        for (std::size_t i = 0; i < rank.legs.legs.size(); ++i) {
            const auto lane = static_cast<std::size_t>(rank.legs.legs[i].lane);
            rank.queue[lane].push_back(static_cast<std::int32_t>(i));
        }
        if (!in_place_ || operations_ == 0) return;
        rank.output = rank.input;
    }

    /// Plays one of the legs that may be; false when there is none.
    bool step() {
        std::vector<std::pair<std::size_t, std::size_t>> ready;
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                if (may_go(ranks_[r], lane)) ready.emplace_back(r, lane);
            }
        }
        if (ready.empty()) return false;
        const auto [r, lane] = drawn(ready);
        Rank& rank = ranks_[r];
        const std::int32_t index = rank.queue[lane][rank.next[lane]++];
        play(static_cast<int>(r), rank, rank.legs.legs[static_cast<std::size_t>(index)]);
        rank.done[static_cast<std::size_t>(index)] = true;
        return true;
    }

    /// Anything but a lane of one rank, which gets far behind the others.
    std::pair<std::size_t, std::size_t> drawn(std::vector<std::pair<std::size_t, std::size_t>> ready) {
        if (ready.size() > 1 && lot_() % 64 != 0) std::erase(ready, starved_);
        return ready[lot_() % ready.size()];
    }

    bool may_go(Rank& rank, std::size_t lane) const {
        if (rank.next[lane] == rank.queue[lane].size()) return false;
        const Leg& leg = rank.legs.legs[static_cast<std::size_t>(rank.queue[lane][rank.next[lane]])];
        for (const std::int32_t before : leg.after) {
            if (before >= 0 && !rank.done[static_cast<std::size_t>(before)]) return false;
        }
        if (leg.work != Work::await) return true;
        const Link& link = rank.legs.links[static_cast<std::size_t>(leg.index)];
        const auto slots = static_cast<std::uint64_t>(plan_.request.slots);
        const std::uint64_t least = number(link, leg) - (link.sends ? slots : 0);
        return static_cast<std::int64_t>(rank.counters[link.counter_at] - least) >= 0;
    }

    [[nodiscard]] std::uint64_t number(const Link& link, const Leg& leg) const {
        return operations_ * link.total + leg.number;
    }
    [[nodiscard]] std::int64_t slot(const Link& link, const Leg& leg) const {
        const auto slots = static_cast<std::uint64_t>(plan_.request.slots);
        return link.slots_at +
               static_cast<std::int64_t>((number(link, leg) - 1) % slots) * plan_.request.slot_bytes;
    }

    void play(int, Rank& rank, const Leg& leg) {
        if (leg.work == Work::await) return;
        if (leg.work == Work::combine)
            return combine(rank, rank.legs.combines[static_cast<std::size_t>(leg.index)]);
        const Link& link = rank.legs.links[static_cast<std::size_t>(leg.index)];
        Rank& peer = ranks_[static_cast<std::size_t>(link.peer)];
        if (leg.work == Work::post) {
            peer.counters[link.posts_at] = number(link, leg);
        } else if (leg.work == Work::fetch) {
            rank.staging[static_cast<std::size_t>(leg.staging)] = rank.slots[slot(link, leg)];
        } else {
            peer.slots[slot(link, leg)] = rank.staging[static_cast<std::size_t>(leg.staging)];
        }
    }

    void combine(Rank& rank, const Combine& c) const {
        const Bytes& local = c.local_is_output || in_place_ ? rank.output : rank.input;
        Bytes result(static_cast<std::size_t>(c.bytes.size));
        for (std::size_t i = 0; i < result.size(); ++i) {
            unsigned sum = c.local_at < 0 ? 0 : local[static_cast<std::size_t>(c.bytes.begin) + i];
            for (const std::int32_t slot : c.staged) {
                const Bytes& received = rank.staging[static_cast<std::size_t>(slot)];
                sum += i < received.size() ? received[i] : 0xee;
            }
            result[i] = static_cast<std::uint8_t>(sum);
        }
        if (c.store) std::ranges::copy(result, rank.output.begin() + c.bytes.begin);
        if (c.result >= 0) rank.staging[static_cast<std::size_t>(c.result)] = result;
    }

    [[nodiscard]] std::uint8_t expected(std::size_t i) const {
        unsigned sum = 0;
        for (int r = 0; r < plan_.request.ranks; ++r) sum += contribution(r, i);
        return static_cast<std::uint8_t>(sum);
    }

    const schedule::Plan& plan_;
    bool in_place_;
    std::mt19937 lot_;
    std::pair<std::size_t, std::size_t> starved_;  ///< rank and lane
    std::vector<Rank> ranks_;
    std::uint64_t operations_ = 0;
};

class LegsOf : public testing::TestWithParam<std::string> {};

/// The first plan that the planner lets pass, with few slots first.
schedule::Plan leanest_plan(const std::string& id, Shape shape) {
    for (shape.slots = 1; shape.slots < 64; ++shape.slots) {
        try {
            return plan_of(id, shape);
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::usage) << e.what();
        }
    }
    return plan_of(id, shape);
}

/// Nothing but arithmetic, which a sanitizer makes twenty times as long.
constexpr unsigned seeds = 12;

/// Whatever lane goes first: no operation is stuck, and all sums are right, three operations in a row.
TEST_P(LegsOf, AnyOrderOfTheLanes_IsAnAllReduce) {
    for (const int ranks : {2, 3, 4, 7}) {
        for (const std::int64_t bytes : {1, 100, 4003}) {
            Shape shape{.ranks = ranks, .bytes = bytes, .channels = 2, .slot_bytes = 128};
            const schedule::Plan lean = leanest_plan(GetParam(), shape);
            shape.slots = lean.request.slots + 5;
            const schedule::Plan rich = plan_of(GetParam(), shape);
            for (unsigned seed = 0; seed < seeds; ++seed) {
                Machine machine{seed % 4 < 2 ? lean : rich, seed % 2 == 1, seed};
                for (int i = 0; i < 3; ++i)
                    ASSERT_EQ(machine.play(), "") << ranks << " ranks, " << bytes << " bytes, seed " << seed;
            }
        }
    }
}

/// Rows and bytes are those that the plan declares.
TEST_P(LegsOf, Rows_AreThePlans) {
    const schedule::Plan plan = plan_of(GetParam(), {.ranks = 5, .bytes = 9001, .channels = 3, .slots = 16});
    const Layout layout{plan};
    const schedule::DeclaredTraffic declared = schedule::declared_traffic(plan);
    for (int rank = 0; rank < 5; ++rank) {
        const Legs legs = make_legs(plan, layout, {.rank = rank, .memory = {}});
        EXPECT_EQ(std::ssize(legs.rows), schedule::events_per_operation(plan, rank));
        std::int64_t sent = 0;
        for (const Leg& leg : legs.legs) sent += leg.work == Work::put ? leg.bytes : 0;
        EXPECT_EQ(sent, declared.payload.sent_by(rank));
    }
}

/// What waits comes after it in the list, and in another lane: a stream can only wait for work that it was
/// asked for before.
TEST_P(LegsOf, Dependencies_PointBackAndAcross) {
    const schedule::Plan plan = plan_of(GetParam(), {.ranks = 4, .bytes = 9001, .slots = 16});
    const Legs legs = make_legs(plan, Layout{plan}, {.rank = 1, .memory = {}});
    for (std::size_t i = 0; i < legs.legs.size(); ++i) {
        for (const std::int32_t before : legs.legs[i].after) {
            ASSERT_LT(before, static_cast<std::int32_t>(i));
            if (before < 0) continue;
            EXPECT_NE(legs.legs[static_cast<std::size_t>(before)].lane, legs.legs[i].lane);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, LegsOf, testing::ValuesIn(schedules::all), host::test_name_of_id);

/// The faults that some order of the lanes shows.
std::vector<std::string> faults_with(void (*spoil)(Leg&)) {
    const schedule::Plan plan =
        plan_of("ring-simple", {.ranks = 3, .bytes = 6000, .slots = 4, .slot_bytes = 128});
    std::vector<std::string> faults;
    for (unsigned seed = 0; seed < 40; ++seed) {
        Machine machine{plan, false, seed};
        for (Rank& rank : machine.ranks()) std::ranges::for_each(rank.legs.legs, spoil);
        const std::string fault = machine.play();
        if (!fault.empty()) faults.push_back(fault);
    }
    return faults;
}

/// The machine can fail: without any one kind of order it does.
TEST(Legs, LanesThatDoNotWaitForEachOther_AreFound) {
    EXPECT_THAT(faults_with([](Leg&) {}), IsEmpty());
    const auto without = [](Work work, std::size_t index) {
        static Work of;
        static std::size_t at;
        of = work;
        at = index;
        return faults_with([](Leg& leg) {
            if (leg.work == of) leg.after[at] = -1;
        });
    };
    EXPECT_THAT(without(Work::combine, 0), Not(IsEmpty())) << "combined before it was fetched";
    EXPECT_THAT(without(Work::combine, 1), Not(IsEmpty())) << "result overwritten before it was put";
    EXPECT_THAT(without(Work::put, 0), Not(IsEmpty())) << "put before it was combined";
    EXPECT_THAT(without(Work::fetch, 0), Not(IsEmpty())) << "fetched over what is not combined yet";
}

/// A ring of three with one slot less than it needs: the planner says so, and the lanes are never asked.
TEST(Legs, TooFewSlots_AreThePlannersToRefuse) {
    EXPECT_THROW((void)plan_of("ring-simple", {.ranks = 3, .bytes = 6000, .slots = 2}), Error);
}

TEST(Legs, MoreMessagesPerOpThanKernelsHaveRoomFor_AreRefused) {
    const schedule::Plan plan = plan_of("two-shot", {.ranks = 40, .bytes = 4000});
    EXPECT_THROW((void)make_legs(plan, Layout{plan}, {.rank = 0, .memory = {}}), Error);
}

}  // namespace
}  // namespace ringscope::engine::cuda
