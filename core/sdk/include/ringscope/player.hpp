// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ringscope/abi.h"

/// For plugin authors: what a schedule is written against. Header-only, C++20, nothing but the ABI below it.
namespace ringscope {

enum class Phase : std::int32_t {
    reduce_scatter = RINGSCOPE_REDUCE_SCATTER,
    all_gather = RINGSCOPE_ALL_GATHER,
    reduce = RINGSCOPE_REDUCE,
    broadcast = RINGSCOPE_BROADCAST,
};

/// The rank's own contribution to an op.
enum class Local : std::int32_t {
    none = RINGSCOPE_LOCAL_NONE,
    input = RINGSCOPE_LOCAL_INPUT,
    output = RINGSCOPE_LOCAL_OUTPUT,
};

/// Distinct ranks in the order in which they are received from or sent to. Converts from a single rank.
class Peers {
 public:
    Peers() = default;
    Peers(int rank) : ranks_{rank} {}
    Peers(std::vector<std::int32_t> ranks) : ranks_{std::move(ranks)} {}

    [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(ranks_.size()); }
    [[nodiscard]] const std::int32_t* data() const { return ranks_.data(); }
    [[nodiscard]] bool empty() const { return ranks_.empty(); }
    [[nodiscard]] auto begin() const { return ranks_.begin(); }
    [[nodiscard]] auto end() const { return ranks_.end(); }

 private:
    std::vector<std::int32_t> ranks_;
};

/// Chunks first .. first+count-1, walked in this order, one message per chunk and peer.
struct Chunks {
    std::int32_t first = 0;
    std::int32_t count = 1;
};

[[nodiscard]] constexpr Chunks chunk(int index) {
    return {index, 1};
}

/// The one op there is; the named ones of Player are shorthands for it. See ringscope_op.
struct OpSpec {
    Peers recv{};
    Peers send{};
    Local local = Local::none;
    std::int32_t local_at = 0;  ///< received messages that come before the own contribution in the sum
    bool store = false;
    bool finish = false;
    Chunks chunks{};
};

/// Thrown through a schedule when the sink wants no more ops; the plugin's glue turns it back into a status.
struct PlayStopped {
    std::int32_t status;
};

/// Plays the program of one rank and channel: a schedule calls it op by op.
class Player {
 public:
    Player(const ringscope_place& place, const ringscope_sink& sink) : place_{place}, sink_{sink} {}

    [[nodiscard]] int ranks() const { return place_.ranks; }
    [[nodiscard]] int rank() const { return place_.rank; }
    [[nodiscard]] int channels() const { return place_.channels; }
    [[nodiscard]] int channel() const { return place_.channel; }
    [[nodiscard]] std::int64_t slices() const { return place_.slices; }
    [[nodiscard]] std::int64_t in_flight() const { return place_.in_flight; }
    /// The value of the algorithm's option of this index.
    [[nodiscard]] std::int64_t option(int index) const { return place_.options[index]; }

    /// A rank counted round the ring: wrap(-1) is the last rank, wrap(ranks()) is rank 0.
    [[nodiscard]] int wrap(int rank) const { return (rank % ranks() + ranks()) % ranks(); }

    /// The slice and phase of the ops that follow.
    void slice(std::int64_t index) { slice_ = index; }
    void phase(Phase phase) { phase_ = phase; }

    /// input -> to
    void send(const Peers& to, Chunks c) { op({.send = to, .local = Local::input, .chunks = c}); }
    /// from -> output
    void recv(const Peers& from, Chunks c) { op({.recv = from, .store = true, .chunks = c}); }
    /// from -> output and to
    void recv_copy_send(const Peers& from, const Peers& to, Chunks c) {
        op({.recv = from, .send = to, .store = true, .chunks = c});
    }
    /// from + input -> to
    void recv_reduce_send(const Peers& from, const Peers& to, Chunks c) {
        op({.recv = from, .send = to, .local = Local::input, .local_at = from.count(), .chunks = c});
    }
    /// from + input, which completes the chunk -> output and to
    void recv_reduce_copy_send(const Peers& from, const Peers& to, Chunks c) {
        op({.recv = from,
            .send = to,
            .local = Local::input,
            .local_at = from.count(),
            .store = true,
            .finish = true,
            .chunks = c});
    }

    void op(const OpSpec& spec) {
        const ringscope_op op{
            .size = sizeof(ringscope_op),
            .recv_count = spec.recv.count(),
            .send_count = spec.send.count(),
            .local = static_cast<std::int32_t>(spec.local),
            .local_at = spec.local_at,
            .store = spec.store ? 1 : 0,
            .finish = spec.finish ? 1 : 0,
            .phase = static_cast<std::int32_t>(phase_),
            .recv = spec.recv.data(),
            .send = spec.send.data(),
            .slice = slice_,
            .first_chunk = spec.chunks.first,
            .chunk_count = spec.chunks.count,
        };
        const std::int32_t status = sink_.op(sink_.self, &op);
        if (status != RINGSCOPE_OK) throw PlayStopped{status};
    }

 private:
    ringscope_place place_;
    ringscope_sink sink_;
    std::int64_t slice_ = 0;
    Phase phase_ = Phase::reduce_scatter;
};

}  // namespace ringscope
