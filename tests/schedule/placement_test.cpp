// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "ringscope/plugin.hpp"
#include "schedule/plan.hpp"
#include "tests/effort.hpp"
#include "tests/schedules/built.hpp"

namespace ringscope::schedule {
namespace {

constexpr LinkFormat simple{.protocol = Protocol::simple, .min_parts = 1, .parts = 1};

Plan plan_of(const ringscope_algorithm& algorithm, int ranks, std::int64_t slices) {
    const std::int64_t chunks = chunks_of(algorithm, {.ranks = ranks, .options = usual_options(algorithm)});
    return make_plan(
        algorithm,
        {.ranks = ranks, .bytes = chunks * slices * 64, .slots = 64, .slot_bytes = 64, .link = simple}
    );
}

Plan plan_of(const std::string& id, int ranks, std::int64_t slices = 1) {
    return plan_of(schedules::built(id), ranks, slices);
}

/// Ranks that play at any pace over real buffers: a message in an input is read when its receiver plays, one
/// in an output is written when its sender plays. A rank that returns fills its input with something else.
/// Buffers hold, for each piece, how often each rank's contribution is in it.
class Machine {
 public:
    Machine(const Plan& plan, bool in_place, unsigned seed)
        : plan_{plan},
          programs_{plan.programs[0]},
          ranks_(programs_.size()),
          in_place_{in_place},
          random_{seed} {
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            const auto pieces = static_cast<std::size_t>(plan.chunks * plan.slices);
            ranks_[r].input.assign(pieces, value_of(r));
            ranks_[r].output.assign(pieces, in_place ? value_of(r) : garbage());
        }
    }

    /// What went wrong, or "".
    std::string run() {
        while (fault_.empty()) {
            std::vector<std::size_t> able;
            for (std::size_t r = 0; r < ranks_.size(); ++r) {
                if (can_step(r)) able.push_back(r);
            }
            if (able.empty()) break;
            step(able[random_() % able.size()]);
        }
        const bool over = std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.returned; });
        return fault_.empty() && !over ? "stuck" : fault_;
    }

 private:
    using Value = std::vector<int>;
    struct Rank {
        bool entered = false, returned = false;
        std::size_t next = 0;
        std::vector<Value> input, output;
    };
    struct InFlight {
        Place place;
        Value value;
    };

    Value value_of(std::size_t rank) const {
        Value value(ranks_.size());
        value[rank] = 1;
        return value;
    }
    Value garbage() const { return Value(ranks_.size(), 1000); }
    std::size_t piece(const Op& op) const {
        return static_cast<std::size_t>(op.slice * plan_.chunks + op.chunk);
    }

    bool can_step(std::size_t r) {
        const Rank& rank = ranks_[r];
        if (rank.returned) return false;
        if (!rank.entered || rank.next == programs_[r].ops.size()) return true;
        for (const Message& m : programs_[r].recvs(programs_[r].ops[rank.next])) {
            if (lines_[{m.peer, r}].empty()) return false;
        }
        return true;
    }

    void step(std::size_t r) {
        Rank& rank = ranks_[r];
        if (!rank.entered) {
            rank.entered = true;
        } else if (rank.next == programs_[r].ops.size()) {
            leave(r);
        } else {
            play(r, programs_[r].ops[rank.next++]);
        }
    }

    void leave(std::size_t r) {
        const Value all(ranks_.size(), 1);
        for (const Value& value : ranks_[r].output) {
            if (value != all) fail(r, "returns with a wrong result");
        }
        ranks_[r].returned = true;
        ranks_[r].input.assign(ranks_[r].input.size(), garbage());
    }

    void play(std::size_t r, const Op& op) {
        Value sum(ranks_.size());
        bool is_there = false;
        if (op.local == RINGSCOPE_LOCAL_INPUT) add(sum, mine(r).input[piece(op)]);
        if (op.local == RINGSCOPE_LOCAL_OUTPUT) add(sum, mine(r).output[piece(op)]);
        for (const Message& m : programs_[r].recvs(op)) {
            const InFlight message = lines_[{m.peer, r}].front();
            lines_[{m.peer, r}].pop_front();
            is_there = message.place == Place::output;
            add(sum, message.place == Place::slot ? message.value
                     : message.place == Place::input
                         ? theirs(static_cast<std::size_t>(m.peer)).input[piece(op)]
                         : mine(r).output[piece(op)]);
        }
        if (op.store && !is_there) store(mine(r), op, sum);
        for (const Message& m : programs_[r].sends(op)) {
            if (m.place == Place::output) store(theirs(static_cast<std::size_t>(m.peer)), op, sum);
            lines_[{r, m.peer}].push_back({m.place, sum});
        }
    }

    void store(Rank& rank, const Op& op, const Value& value) {
        rank.output[piece(op)] = value;
        if (in_place_) rank.input[piece(op)] = value;
    }

    Rank& mine(std::size_t r) { return ranks_[r]; }
    Rank& theirs(std::size_t r) {
        if (!ranks_[r].entered || ranks_[r].returned)
            fail(r, "has its buffers touched outside of the operation");
        return ranks_[r];
    }
    static void add(Value& sum, const Value& part) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
    void fail(std::size_t r, const std::string& what) { fault_ = "rank " + std::to_string(r) + " " + what; }

    const Plan& plan_;
    const std::vector<Program>& programs_;
    std::vector<Rank> ranks_;
    bool in_place_;
    std::minstd_rand random_;
    std::map<std::pair<std::size_t, std::size_t>, std::deque<InFlight>> lines_;
    std::string fault_;
};

std::string play(const Plan& plan, int times) {
    for (const bool in_place : {false, true}) {
        for (int seed = 1; seed <= times; ++seed) {
            const std::string fault = Machine{plan, in_place, static_cast<unsigned>(seed)}.run();
            if (!fault.empty()) return fault;
        }
    }
    return "";
}

/// How many messages of a plan lie where.
struct Count {
    int input = 0, output = 0, slot = 0;
    friend bool operator==(const Count&, const Count&) = default;
    friend void PrintTo(const Count& c, std::ostream* out) {
        *out << c.input << " in inputs, " << c.output << " in outputs, " << c.slot << " in slots";
    }
};

Count places(const Plan& plan) {
    Count count;
    for (const Program& program : plan.programs[0]) {
        for (const Op& op : program.ops) {
            for (const Message& m : program.sends(op))
                ++(m.place == Place::slot    ? count.slot
                   : m.place == Place::input ? count.input
                                             : count.output);
        }
    }
    return count;
}

/// Overwrites the place of all messages at both ends.
void place_all(Plan& plan, Place from, Place to) {
    for (Program& program : plan.programs[0]) {
        for (Message& m : program.messages) m.place = m.place == from ? to : m.place;
    }
}

TEST(Place, AnyPace_GivesTheSum_AndTouchesNoBufferOutsideOfItsOperation) {
    const int times = sanitized ? 5 : 40;
    for (const std::string& id : schedules::all) {
        for (int ranks = 2; ranks <= (sanitized ? 4 : 9); ++ranks) {
            EXPECT_EQ(play(plan_of(id, ranks), times), "") << id << " N=" << ranks;
            EXPECT_EQ(play(plan_of(id, ranks, 3), times), "") << id << " N=" << ranks << ", 3 slices";
        }
    }
}

// Of a ring's 2(N-1) hops the first carries inputs, and the last N-1 complete chunks; each of N ranks sends
// one message per hop.
TEST(Place, Ring_FirstHopInInputs_CompleteChunksInOutputs) {
    for (int n : {2, 3, 4, 8})
        EXPECT_EQ(places(plan_of("ring-simple", n)), (Count{n, n * (n - 1), n * (n - 2)})) << n;
}

TEST(Place, TwoShot_NeedsNoSlot) {
    for (int n : {2, 3, 4, 8})
        EXPECT_EQ(places(plan_of("two-shot", n)), (Count{n * (n - 1), n * (n - 1), 0})) << n;
}

TEST(Place, ParameterServer_NeedsNoSlot) {
    for (int n : {2, 3, 4, 8})
        EXPECT_EQ(places(plan_of("parameter-server", n)), (Count{n - 1, n - 1, 0})) << n;
}

// No result comes back that would tell a rank that its input was read.
TEST(Place, OneShot_AllInSlots) {
    for (int n : {2, 3, 4, 8})
        EXPECT_EQ(places(plan_of("one-shot/simple", n)), (Count{0, 0, n * (n - 1)})) << n;
}

TEST(Place, InputsReadThoughNoResultComesBack_IsSeen) {
    Plan plan = plan_of("one-shot/simple", 3);
    EXPECT_EQ(play(plan, 20), "");
    place_all(plan, Place::slot, Place::input);
    EXPECT_NE(play(plan, 20), "");
}

TEST(Place, PartialSumsInOutputs_AreSeen) {
    Plan plan = plan_of("ring-simple", 4);
    place_all(plan, Place::slot, Place::output);
    EXPECT_NE(play(plan, 20), "");
}

/// Rank 0 gives its contribution to ranks 1 and 2, which both work out the sum. Rank 1 tells it what that is,
/// and rank 2 may still be reading then.
void two_readers(Player& p) {
    if (p.rank() == 0) {
        p.send(std::vector<std::int32_t>{1, 2}, chunk(0));
        return p.recv(1, chunk(0));
    }
    const int other = 3 - p.rank();
    p.send(other, chunk(0));
    const std::vector<std::int32_t> both{0, other};
    p.op(
        {.recv = both,
         .send = p.rank() == 1 ? Peers{0} : Peers{},
         .local = Local::input,
         .local_at = 2,
         .store = true,
         .finish = true,
         .chunks = chunk(0)}
    );
}

int one_chunk(int) {
    return 1;
}

TEST(Place, InputWithTwoReaders_StaysInSlots) {
    const ringscope_algorithm readers =
        algorithm<two_readers, one_chunk>("two-readers", "two ranks read one input", RINGSCOPE_SIMPLE);
    Plan plan = plan_of(readers, 3, 1);
    EXPECT_EQ(places(plan), (Count{0, 0, 5}));
    EXPECT_EQ(play(plan, 20), "");
    Program& program = plan.programs[0][0];
    for (Message& m : program.messages) m.place = m.peer == 2 ? Place::input : m.place;
    EXPECT_NE(play(plan, 20), "");
}

}  // namespace
}  // namespace ringscope::schedule
