// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/proof.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/rehearsal.hpp"

namespace ringscope::schedule {
namespace {

/// A partial sum: how often each rank is in it, and whether it was marked as complete.
struct Value {
    std::vector<std::uint8_t> times;
    bool finished = false;
};

class Proof {
 public:
    Proof(
        std::span<const Program> programs, std::int32_t chunks, std::int64_t slices, bool in_place,
        std::span<const std::int32_t> members
    )
        : programs_{programs},
          chunks_{chunks},
          slices_{slices},
          in_place_{in_place},
          takes_part_(programs.size(), members.empty() ? 1 : 0),
          outputs_(programs.size()) {
        for (const std::int32_t rank : members) takes_part_[static_cast<std::size_t>(rank)] = 1;
        for (auto& output : outputs_) output.resize(static_cast<std::size_t>(slices * chunks));
    }

    std::string run() {
        const Ending ending =
            rehearse(programs_, {.slots = unlimited_slots}, [this](std::int32_t rank, const Op& op) {
                if (fault_.empty()) play(rank, op);
            });
        if (!fault_.empty()) return fault_;
        if (!ending.complete()) return ending.text();
        return check_outputs();
    }

 private:
    void play(std::int32_t rank, const Op& op) {
        const Program& program = programs_[static_cast<std::size_t>(rank)];
        const auto recvs = program.recvs(op);
        Value sum{std::vector<std::uint8_t>(programs_.size())};
        for (std::size_t i = 0; i <= recvs.size(); ++i) {
            if (static_cast<std::int32_t>(i) == op.local_at && op.local != RINGSCOPE_LOCAL_NONE)
                add_local(sum, rank, op);
            if (i < recvs.size()) add_message(sum, rank, recvs[i].peer, op);
        }
        if (!fault_.empty()) return;
        finish(sum, rank, op);
        if (op.store) output(rank, op) = sum;
        for (const Message& m : program.sends(op))
            in_flight_[{rank, m.peer}].push_back({op.slice, op.chunk, sum});
    }

    void add_local(Value& sum, std::int32_t rank, const Op& op) {
        const std::optional<Value>& stored = output(rank, op);
        if (op.local == RINGSCOPE_LOCAL_OUTPUT) {
            if (!stored) return fail(rank, op, "reads an output that nothing was stored to");
            return add(sum, *stored, rank, op);
        }
        if (in_place_ && stored) return fail(rank, op, "reads an input that was overwritten (in place)");
        Value own{std::vector<std::uint8_t>(programs_.size())};
        own.times[static_cast<std::size_t>(rank)] = 1;
        add(sum, own, rank, op);
    }

    void add_message(Value& sum, std::int32_t rank, std::int32_t peer, const Op& op) {
        auto& line = in_flight_[{peer, rank}];
        const InFlight message = std::move(line.front());
        line.pop_front();
        if (message.slice != op.slice || message.chunk != op.chunk) {
            return fail(
                rank, op,
                "receives chunk " + std::to_string(message.chunk) + " slice " +
                    std::to_string(message.slice) + " of rank " + std::to_string(peer)
            );
        }
        add(sum, message.value, rank, op);
    }

    void add(Value& sum, const Value& part, std::int32_t rank, const Op& op) {
        const bool alone = std::ranges::all_of(sum.times, [](auto times) { return times == 0; });
        if ((part.finished || sum.finished) && !alone) fail(rank, op, "adds to a finished chunk");
        for (std::size_t i = 0; i < sum.times.size(); ++i) {
            sum.times[i] = static_cast<std::uint8_t>(std::min(255, sum.times[i] + part.times[i]));
        }
        sum.finished = sum.finished || part.finished;
    }

    void finish(Value& sum, std::int32_t rank, const Op& op) {
        if (!op.finish) return;
        if (sum.finished) return fail(rank, op, "finishes a chunk twice");
        sum.finished = true;
    }

    std::string check_outputs() const {
        for (std::size_t rank = 0; rank < outputs_.size(); ++rank) {
            for (std::int64_t cell = 0; cell < slices_ * chunks_; ++cell) {
                const std::optional<Value>& value = outputs_[rank][static_cast<std::size_t>(cell)];
                const std::string fault = takes_part_[rank] != 0 ? fault_of(value)
                                          : value                ? "stored to by a rank that only serves"
                                                                 : "";
                if (fault.empty()) continue;
                return "output of rank " + std::to_string(rank) + ", slice " +
                       std::to_string(cell / chunks_) + ", chunk " + std::to_string(cell % chunks_) + ": " +
                       fault;
            }
        }
        return "";
    }

    [[nodiscard]] std::string fault_of(const std::optional<Value>& value) const {
        if (!value) return "never stored";
        for (std::size_t rank = 0; rank < value->times.size(); ++rank) {
            if (value->times[rank] == takes_part_[rank]) continue;
            return "holds the contribution of rank " + std::to_string(rank) + " " +
                   std::to_string(value->times[rank]) + " times";
        }
        return value->finished ? "" : "no op finished it";
    }

    std::optional<Value>& output(std::int32_t rank, const Op& op) {
        return outputs_[static_cast<std::size_t>(rank)]
                       [static_cast<std::size_t>(op.slice * chunks_ + op.chunk)];
    }

    void fail(std::int32_t rank, const Op& op, const std::string& what) {
        if (!fault_.empty()) return;
        fault_ = "rank " + std::to_string(rank) + ", slice " + std::to_string(op.slice) + ", chunk " +
                 std::to_string(op.chunk) + ": " + what;
    }

    struct InFlight {
        std::int64_t slice;
        std::int32_t chunk;
        Value value;
    };

    std::span<const Program> programs_;
    std::int32_t chunks_;
    std::int64_t slices_;
    bool in_place_;
    std::vector<std::uint8_t> takes_part_;  ///< 0 or 1 for each rank
    std::vector<std::vector<std::optional<Value>>> outputs_;
    std::map<std::pair<std::int32_t, std::int32_t>, std::deque<InFlight>> in_flight_;
    std::string fault_;
};

}  // namespace

std::string disprove(
    std::span<const Program> programs, std::int32_t chunks, std::int64_t slices, bool in_place,
    std::span<const std::int32_t> members
) {
    return Proof{programs, chunks, slices, in_place, members}.run();
}

}  // namespace ringscope::schedule
