// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/engine/support.hpp"

// Small sums by one protocol's struct, for tests of what its lines carry and when they may be read.
namespace ringscope::engine::host {

inline std::uint32_t element_of(int rank, std::int64_t operation, std::int64_t i) {
    return static_cast<std::uint32_t>(operation * 1'000'003 + i * 101 + rank + 1);
}

/// One rank's end of a series of 32-bit sums over the same connections.
template <class Link>
class Sums {
 public:
    Sums(
        bootstrap::Bootstrap& bootstrap, Control& control, const std::vector<schedule::Plan>& plans,
        std::int64_t wait_ns
    )
        : rank_{bootstrap.rank()},
          ranks_{bootstrap.size()},
          connections_{bootstrap, plans.front()},
          scratch_{static_cast<std::size_t>(ranks_), Link::block_bytes},
          waiter_{control, rank_, wait_ns, ranks_ > 2} {
        for (const schedule::Plan& plan : plans) programs_.push_back(connections_.make_ready(plan, 0, 1));
    }

    /// Both counters of every connection as after so many messages.
    void pretend_history(std::uint64_t messages) {
        for (const ReadyOp& op : programs_.front()) {
            for (const auto& recv : op.recvs) start_at(*recv.end, messages);
            for (const auto& send : op.sends) start_at(*send.end, messages);
        }
    }

    /// Whether the operation's sum is right at this rank.
    template <class Probe>
    bool operate(std::size_t plan, std::int64_t count, std::int64_t operation, Probe& probe) {
        std::vector<std::uint32_t> input(static_cast<std::size_t>(count)),
            output(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i)
            input[static_cast<std::size_t>(i)] = element_of(rank_, operation, i);
        const Buffers buffers{
            reinterpret_cast<const std::byte*>(input.data()), reinterpret_cast<std::byte*>(output.data()), 4,
            reduce::reduce_copy(DataType::int32, ReduceOp::sum)};
        interpret<Link>(programs_[plan], buffers, scratch_, waiter_, probe);
        for (std::int64_t i = 0; i < count; ++i) {
            if (output[static_cast<std::size_t>(i)] != expected(operation, i)) return false;
        }
        return true;
    }

 private:
    static void start_at(End& end, std::uint64_t messages) {
        end.count = end.seen = messages;
        end.box->consumed.store(messages);
    }
    [[nodiscard]] std::uint32_t expected(std::int64_t operation, std::int64_t i) const {
        std::uint32_t sum = 0;
        for (int rank = 0; rank < ranks_; ++rank) sum += element_of(rank, operation, i);
        return sum;
    }

    int rank_, ranks_;
    Connections connections_;
    Scratch scratch_;
    Waiter waiter_;
    std::vector<std::vector<ReadyOp>> programs_;
};

/// Stops in the middle of one message of a rank: after its first stores, until its peer has finished or a
/// while has passed.
class HesitatingProbe : public NoProbe {
 public:
    HesitatingProbe(const std::atomic<bool>& peer_done, bool hesitates, int stores)
        : peer_done_{peer_done}, hesitates_{hesitates}, stores_{stores} {}
    void begin(const ReadyOp& op) {
        second_message_ = op.index == 1;
        stored_ = 0;
    }
    void stored(const void*, std::int64_t) {
        if (!hesitates_ || !second_message_ || ++stored_ != stores_) return;
        for (int i = 0; i < 200 && !peer_done_; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }

 private:
    const std::atomic<bool>& peer_done_;
    bool hesitates_;
    bool second_message_ = false;
    int stores_, stored_ = 0;
};

}  // namespace ringscope::engine::host
