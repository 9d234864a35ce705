// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/placement.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "schedule/rehearsal.hpp"

namespace ringscope::schedule {
namespace {

/// How a rank uses a piece of its buffers.
struct Uses {
    std::int32_t inputs = 0, stores = 0;
    const Op *input = nullptr, *store = nullptr;  ///< the last of them
    bool complete = false;                        ///< what that one stored is a complete result
};

bool only_receives(const Op& op) {
    return op.recv_count == 1 && op.local == RINGSCOPE_LOCAL_NONE && op.store && !op.finish;
}

bool only_sends(const Op& op) {
    return op.recv_count == 0 && op.local == RINGSCOPE_LOCAL_INPUT && !op.store && !op.finish;
}

class Placer {
 public:
    Placer(std::span<Program> programs, std::int32_t chunks, std::int64_t slices)
        : programs_{programs},
          chunks_{chunks},
          uses_(programs.size(), std::vector<Uses>(static_cast<std::size_t>(chunks * slices))) {}

    void run(Direct direct) {
        rehearse(programs_, {.slots = unlimited_slots}, [this](std::int32_t rank, const Op& op) {
            play(rank, op);
        });
        for (const Delivery& delivery : deliveries_) {
            const Place place = place_of(delivery);
            if (place == Place::input && direct != Direct::all) continue;
            delivery.send->place = delivery.recv->place = place;
        }
    }

 private:
    struct Delivery {
        std::int32_t src, dst;
        const Op *sent, *received;
        Message *send, *recv;
    };
    struct InFlight {
        const Op* op;
        Message* message;
        bool complete;
    };

    void play(std::int32_t rank, const Op& op) {
        Uses& uses = uses_of(rank, op);
        Message* const messages = program(rank).messages.data() + op.first_message;
        bool complete = op.finish || (op.local == RINGSCOPE_LOCAL_OUTPUT && uses.complete);
        for (std::int32_t i = 0; i < op.recv_count; ++i)
            complete = receive(rank, op, messages[i]) || complete;
        if (op.local == RINGSCOPE_LOCAL_INPUT) {
            ++uses.inputs;
            uses.input = &op;
        }
        if (op.store) {
            ++uses.stores;
            uses.store = &op;
            uses.complete = complete;
        }
        for (std::int32_t i = op.recv_count; i < op.recv_count + op.send_count; ++i)
            in_flight_[{rank, messages[i].peer}].push_back({&op, messages + i, complete});
    }

    /// Whether it is a complete result.
    bool receive(std::int32_t rank, const Op& op, Message& message) {
        auto& line = in_flight_[{message.peer, rank}];
        const InFlight sent = line.front();
        line.pop_front();
        deliveries_.push_back({message.peer, rank, sent.op, &op, sent.message, &message});
        return sent.complete;
    }

    Place place_of(const Delivery& delivery) {
        const bool returns = makes_round_trip(delivery.dst, *delivery.received);
        if (returns && uses_of(delivery.dst, *delivery.received).store == delivery.received)
            return Place::output;
        const bool is_contribution = only_sends(*delivery.sent);
        return is_contribution && makes_round_trip(delivery.src, *delivery.sent) ? Place::input : Place::slot;
    }

    bool makes_round_trip(std::int32_t rank, const Op& op) {
        const Uses& uses = uses_of(rank, op);
        return uses.inputs == 1 && uses.stores == 1 && uses.complete && uses.input->send_count == 1 &&
               !uses.input->store && only_receives(*uses.store);
    }

    Program& program(std::int32_t rank) { return programs_[static_cast<std::size_t>(rank)]; }
    Uses& uses_of(std::int32_t rank, const Op& op) {
        return uses_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(op.slice * chunks_ + op.chunk)];
    }

    std::span<Program> programs_;
    std::int32_t chunks_;
    std::vector<std::vector<Uses>> uses_;
    std::map<std::pair<std::int32_t, std::int32_t>, std::deque<InFlight>> in_flight_;
    std::vector<Delivery> deliveries_;
};

}  // namespace

void place_messages(std::span<Program> programs, std::int32_t chunks, std::int64_t slices, Direct direct) {
    if (direct != Direct::none) Placer{programs, chunks, slices}.run(direct);
}

}  // namespace ringscope::schedule
