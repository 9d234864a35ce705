// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/host.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "engine/host/wait.hpp"
#include "reduce/reduce.hpp"
#include "transport/windows.hpp"

namespace ringscope::machine {
namespace {

using engine::host::Waiter;

constexpr std::int64_t batch_ns = 20'000;
constexpr std::uint64_t trips = 16;            ///< of a batch
constexpr std::uint64_t most_trips = 1 << 20;  ///< of a turn

/// For a wait within the survey: the last rank waits for all others.
constexpr std::int64_t patience_ns = 60'000'000'000;

/// The beginning of each rank's window; data come behind it. Zeroed memory is its initial state.
struct alignas(4096) Page {
    alignas(128) std::atomic<std::uint64_t> turn;  ///< rank 0's: what is measured now
    alignas(128) std::atomic<std::uint64_t> flag;  ///< written by the peer of this turn
};

/// Keeps the compiler from leaving out a copy that the next one overwrites.
void forget_memory() {
    asm volatile("" ::: "memory");
}

std::int64_t copy_ns(std::byte* to, const std::byte* from, std::int64_t bytes, std::int64_t passes) {
    const std::int64_t begin = now_ns();
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
        forget_memory();
    }
    return now_ns() - begin;
}

/// One rank's part. All ranks go through the same N x N turns, and only those whom a turn concerns wait for
/// it: turn dst * N + src is the pair's, and dst * N + dst the receiver's reduction.
class HostSurvey {
 public:
    HostSurvey(bootstrap::Bootstrap& bootstrap, engine::host::HostEngine& host, const Effort& effort)
        : effort_{effort},
          rank_{bootstrap.rank()},
          ranks_{bootstrap.size()},
          latencies_{!host.options().oversubscribed},
          windows_{transport::make_windows(
              bootstrap, static_cast<std::int64_t>(sizeof(Page)) + effort.sizes.back()
          )},
          sleeping_{host.control(), rank_, patience_ns, true},
          spinning_{host.control(), rank_, patience_ns, false},
          buffers_(static_cast<std::size_t>(3 * effort.sizes.back() / element_bytes), 1.0F) {}

    Figures run() {
        for (int dst = 0; dst < ranks_; ++dst) {
            for (int src = 0; src < ranks_; ++src) {
                if (rank_ == src || rank_ == dst) take(src, dst);
            }
        }
        await_turn(number_of(0, ranks_));
        return std::move(figures_);
    }

 private:
    static constexpr std::int64_t element_bytes = sizeof(float);

    /// The turn is over when the sender has heard the receiver's last answer.
    void take(int src, int dst) {
        const std::uint64_t turn = number_of(src, dst);
        if (src != rank_) return latencies_ ? answer(src, turn) : void();
        await_turn(turn);
        if (src == dst) {
            reduce();
        } else {
            send(dst, turn);
        }
        page(0).turn.store(turn + 1, std::memory_order_release);
    }

    [[nodiscard]] std::uint64_t number_of(int src, int dst) const {
        return static_cast<std::uint64_t>(dst) * static_cast<std::uint64_t>(ranks_) +
               static_cast<std::uint64_t>(src);
    }

    /// Waits for the one whose turn comes before, who may wait itself: a report follows them to who holds it.
    void await_turn(std::uint64_t number) {
        const std::atomic<std::uint64_t>& turn = page(0).turn;
        const int peer =
            number == 0 ? 0 : static_cast<int>((number - 1) % static_cast<std::uint64_t>(ranks_));
        sleeping_.wait(
            [&] { return turn.load(std::memory_order_acquire) == number; }, {.peer = peer, .step = -1}
        );
    }

    void reduce() {
        for (const std::int64_t bytes : effort_.sizes) {
            const auto timed = [&](std::int64_t passes) { return reduce_ns(bytes, passes); };
            figures_.reductions.push_back(
                {bytes, rate_of(bytes, shortest_ns(timed, batch_ns, effort_.size_ns))}
            );
        }
    }

    std::int64_t reduce_ns(std::int64_t bytes, std::int64_t passes) {
        static const reduce::ReduceCopy add = reduce::reduce_copy(DataType::float32, ReduceOp::sum);
        const std::array<const std::byte*, 2> sources{buffer(0), buffer(1)};
        std::byte* const sum = buffer(2);
        const std::int64_t begin = now_ns();
        for (std::int64_t pass = 0; pass < passes; ++pass) {
            add(sources.data(), 2, &sum, 1, bytes / element_bytes, 0);
            forget_memory();
        }
        return now_ns() - begin;
    }

    void send(int dst, std::uint64_t turn) {
        std::byte* const there = windows_->of(dst) + sizeof(Page);
        for (const std::int64_t bytes : effort_.sizes) {
            const auto timed = [&](std::int64_t passes) { return copy_ns(there, buffer(0), bytes, passes); };
            const double rate = rate_of(bytes, shortest_ns(timed, batch_ns, effort_.size_ns));
            figures_.links.push_back({.src = rank_, .dst = dst, .bytes = bytes, .bandwidth = rate});
        }
        if (!latencies_) return;
        figures_.links.push_back(
            {.src = rank_, .dst = dst, .bytes = flag_bytes, .latency_ns = latency(dst, turn)}
        );
    }

    /// As many batches as there is time for, and two at least: on a busy machine few of them find both ranks
    /// running. The first one wakes the receiver and does not count.
    std::int64_t latency(int dst, std::uint64_t turn) {
        const std::int64_t begin = now_ns();
        std::uint64_t trip = 0;
        const auto batch = [&] {
            const std::int64_t since = now_ns();
            for (const std::uint64_t end = trip + trips; trip < end; ++trip) {
                post(dst, flag_of(turn, trip));
                (void)heard(dst, flag_of(turn, trip), spinning_);
            }
            return now_ns() - since;
        };
        (void)batch();
        std::int64_t shortest = batch();
        while (now_ns() - begin < effort_.size_ns && trip + trips < most_trips)
            shortest = std::min(shortest, batch());
        post(dst, last_flag(turn));
        return shortest / static_cast<std::int64_t>(2 * trips);
    }

    void answer(int src, std::uint64_t turn) {
        await_turn(turn);
        for (std::uint64_t trip = 0;; ++trip) {
            const std::uint64_t flag = heard(src, flag_of(turn, trip), trip == 0 ? sleeping_ : spinning_);
            if (flag == last_flag(turn)) return;
            post(src, flag);
        }
    }

    /// Flags grow with every trip and every turn, so that what an earlier one left is never taken for a later
    /// one.
    [[nodiscard]] static std::uint64_t flag_of(std::uint64_t turn, std::uint64_t trip) {
        return turn * most_trips + trip;
    }
    [[nodiscard]] static std::uint64_t last_flag(std::uint64_t turn) { return flag_of(turn, most_trips - 1); }

    void post(int peer, std::uint64_t flag) { page(peer).flag.store(flag, std::memory_order_release); }

    /// Waits for this flag or a later one.
    std::uint64_t heard(int peer, std::uint64_t flag, Waiter& waiter) {
        const std::atomic<std::uint64_t>& posted = page(rank_).flag;
        waiter.wait(
            [&] { return posted.load(std::memory_order_acquire) >= flag; }, {.peer = peer, .step = -1}
        );
        return posted.load(std::memory_order_acquire);
    }

    [[nodiscard]] Page& page(int rank) const { return *reinterpret_cast<Page*>(windows_->of(rank)); }
    [[nodiscard]] std::byte* buffer(std::int64_t index) {
        return reinterpret_cast<std::byte*>(buffers_.data()) + index * effort_.sizes.back();
    }

    const Effort& effort_;
    int rank_, ranks_;
    bool latencies_;
    std::unique_ptr<transport::Windows> windows_;
    Waiter sleeping_, spinning_;
    std::vector<float> buffers_;
    Figures figures_;
};

}  // namespace

Figures measure_host(bootstrap::Bootstrap& bootstrap, engine::host::HostEngine& host, const Effort& effort) {
    HostSurvey survey{bootstrap, host, effort};
    try {
        Figures figures = survey.run();
        bootstrap.barrier();
        return figures;
    } catch (const engine::host::GaveUp&) {
        throw engine::host::StuckError{
            engine::host::stuck_message(host.control(), bootstrap.size(), patience_ns)};
    }
}

}  // namespace ringscope::machine
