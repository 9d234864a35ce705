// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/rehearsal.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace ringscope::schedule {
namespace {

/// Messages posted to and consumed from every directed connection, in slots.
class Fifos {
 public:
    Fifos(std::size_t ranks, std::int64_t slots) : ranks_{ranks}, slots_{slots}, counts_(ranks * ranks) {}

    [[nodiscard]] bool has_message(std::int32_t src, std::int32_t dst) const { return waiting(src, dst) > 0; }
    [[nodiscard]] bool has_credit(std::int32_t src, std::int32_t dst) const {
        return waiting(src, dst) < slots_;
    }
    [[nodiscard]] std::int64_t waiting(std::int32_t src, std::int32_t dst) const {
        return counts_[index(src, dst)];
    }
    void post(std::int32_t src, std::int32_t dst) { ++counts_[index(src, dst)]; }
    void consume(std::int32_t src, std::int32_t dst) { --counts_[index(src, dst)]; }

 private:
    [[nodiscard]] std::size_t index(std::int32_t src, std::int32_t dst) const {
        return static_cast<std::size_t>(src) * ranks_ + static_cast<std::size_t>(dst);
    }
    std::size_t ranks_;
    std::int64_t slots_;
    std::vector<std::int64_t> counts_;
};

class Machine {
 public:
    Machine(std::span<const Program> programs, Connections connections)
        : programs_{programs},
          parts_{connections.parts},
          fifos_{programs.size(), connections.slots},
          positions_(programs.size()) {}

    Ending play(const std::function<void(std::int32_t, const Op&)>& on_op) {
        std::deque<std::int32_t> runnable;
        for (std::int32_t rank = 0; rank < ranks(); ++rank) runnable.push_back(rank);
        std::vector<char> queued(programs_.size(), 1);
        while (!runnable.empty()) {
            const std::int32_t rank = runnable.front();
            runnable.pop_front();
            queued[index(rank)] = 0;
            advance(rank, on_op, [&](std::int32_t peer) {
                if (std::exchange(queued[index(peer)], 1) == 0) runnable.push_back(peer);
            });
        }
        return ending();
    }

 private:
    struct Position {
        std::size_t op = 0;
        std::int64_t part = 0;
    };

    static std::size_t index(std::int32_t rank) { return static_cast<std::size_t>(rank); }
    [[nodiscard]] std::int32_t ranks() const { return static_cast<std::int32_t>(programs_.size()); }
    [[nodiscard]] const Program& program(std::int32_t rank) const { return programs_[index(rank)]; }
    [[nodiscard]] bool done(std::int32_t rank) const {
        return positions_[index(rank)].op == program(rank).ops.size();
    }
    [[nodiscard]] const Op& current(std::int32_t rank) const {
        return program(rank).ops[positions_[index(rank)].op];
    }

    /// Runs a rank until it waits or is done; wakes the peers that may go on because of it.
    template <class Wake>
    void advance(std::int32_t rank, const std::function<void(std::int32_t, const Op&)>& on_op, Wake wake) {
        while (!done(rank) && !blocked(rank)) {
            const Op& op = current(rank);
            for (const Message& m : program(rank).recvs(op)) {
                fifos_.consume(m.peer, rank);
                wake(m.peer);
            }
            for (const Message& m : program(rank).sends(op)) {
                fifos_.post(rank, m.peer);
                wake(m.peer);
            }
            Position& position = positions_[index(rank)];
            if (++position.part < parts_) continue;
            position = {position.op + 1, 0};
            if (on_op) on_op(rank, op);
        }
    }

    /// What the rank's current op waits for: all its data and all its credits must be there before it moves
    /// anything.
    [[nodiscard]] std::optional<Wait> blocked(std::int32_t rank) const {
        const Op& op = current(rank);
        const auto wait = [&](std::int32_t peer, bool for_credit) {
            return Wait{rank,     peer,    for_credit, static_cast<std::int64_t>(positions_[index(rank)].op),
                        op.slice, op.chunk};
        };
        for (const Message& m : program(rank).recvs(op)) {
            if (!fifos_.has_message(m.peer, rank)) return wait(m.peer, false);
        }
        for (const Message& m : program(rank).sends(op)) {
            if (!fifos_.has_credit(rank, m.peer)) return wait(m.peer, true);
        }
        return std::nullopt;
    }

    [[nodiscard]] Ending ending() const {
        Ending ending;
        for (std::int32_t rank = 0; rank < ranks() && ending.cycle.empty(); ++rank)
            ending.cycle = cycle_from(rank);
        if (!ending.cycle.empty()) return ending;
        for (std::int32_t rank = 0; rank < ranks(); ++rank) note_mismatches(rank, ending);
        return ending;
    }

    /// The circle of waits that a stuck rank leads to; none when its chain ends at a rank that is done.
    [[nodiscard]] std::vector<Wait> cycle_from(std::int32_t rank) const {
        std::vector<Wait> chain;
        while (!done(rank)) {
            const auto seen = std::ranges::find(chain, rank, &Wait::rank);
            if (seen != chain.end()) return {seen, chain.end()};
            chain.push_back(*blocked(rank));
            rank = chain.back().peer;
        }
        return {};
    }

    void note_mismatches(std::int32_t rank, Ending& ending) const {
        if (!done(rank)) {
            const Wait wait = *blocked(rank);
            if (done(wait.peer)) {
                ending.mismatches.push_back(
                    "rank " + std::to_string(rank) + " op " + std::to_string(wait.op) + " (slice " +
                    std::to_string(wait.slice) + ", chunk " + std::to_string(wait.chunk) + ") waits for " +
                    (wait.for_credit ? "rank " + std::to_string(wait.peer) + " to receive"
                                     : "a message of rank " + std::to_string(wait.peer)) +
                    ", which has ended"
                );
            }
            return;
        }
        for (std::int32_t dst = 0; dst < ranks(); ++dst) {
            const std::int64_t left = fifos_.waiting(rank, dst) / parts_;
            if (left > 0 && done(dst)) {
                ending.mismatches.push_back(
                    "rank " + std::to_string(rank) + " sends " + std::to_string(left) +
                    " message(s) more to rank " + std::to_string(dst) + " than it receives"
                );
            }
        }
    }

    std::span<const Program> programs_;
    std::int64_t parts_;
    Fifos fifos_;
    std::vector<Position> positions_;
};

}  // namespace

std::string Ending::text() const {
    std::string text;
    for (const Wait& wait : cycle) {
        if (!text.empty()) text += ", ";
        text += "rank " + std::to_string(wait.rank) + " (op " + std::to_string(wait.op) + ", slice " +
                std::to_string(wait.slice) + ", chunk " + std::to_string(wait.chunk) + ") waits for " +
                (wait.for_credit ? "a free slot at rank " : "a message of rank ") + std::to_string(wait.peer);
    }
    for (const std::string& mismatch : mismatches) text += (text.empty() ? "" : "; ") + mismatch;
    return text;
}

Ending rehearse(
    std::span<const Program> programs, Connections connections,
    const std::function<void(std::int32_t rank, const Op& op)>& on_op
) {
    return Machine{programs, connections}.play(on_op);
}

std::int32_t number_messages(std::span<Program> programs, std::int32_t chunks) {
    struct Line {
        std::int64_t sent = 0, received = 0;
        std::deque<std::int32_t> steps;
    };
    std::map<std::pair<std::int32_t, std::int32_t>, Line> lines;
    std::vector<std::vector<std::int32_t>> stored(programs.size()
    );  // hops behind each (slice, chunk) of the output
    std::int32_t steps = 0;

    const auto number = [&](std::int32_t rank, const Op& op) {
        Program& program = programs[static_cast<std::size_t>(rank)];
        Message* message = program.messages.data() + op.first_message;
        auto& output = stored[static_cast<std::size_t>(rank)];
        const auto cell = static_cast<std::size_t>(op.slice * chunks + op.chunk);
        if (output.size() <= cell) output.resize(cell + 1);
        std::int32_t hops = op.local == RINGSCOPE_LOCAL_OUTPUT ? output[cell] : 0;
        for (std::int32_t i = 0; i < op.recv_count; ++i, ++message) {
            Line& line = lines[{message->peer, rank}];
            message->step = line.steps.front();
            message->seq = line.received++;
            line.steps.pop_front();
            hops = std::max(hops, message->step + 1);
        }
        for (std::int32_t i = 0; i < op.send_count; ++i, ++message) {
            Line& line = lines[{rank, message->peer}];
            message->step = hops;
            message->seq = line.sent++;
            line.steps.push_back(hops);
            steps = std::max(steps, hops + 1);
        }
        if (op.store) output[cell] = hops;
    };
    rehearse(programs, {.slots = unlimited_slots}, number);
    return steps;
}

}  // namespace ringscope::schedule
