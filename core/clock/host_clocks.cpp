// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/host_clocks.hpp"

#include <sched.h>

#include <atomic>
#include <string>
#include <utility>

#include "transport/windows.hpp"

namespace ringscope::clock {
namespace {

/// A rank's part of the memory: questions are counted, and an answer is there when its number is.
struct Mail {
    alignas(128) std::atomic<std::int64_t> question;
    alignas(128) std::atomic<std::int64_t> answered;
    std::int64_t answer_ns;
};

class OnHosts {
 public:
    OnHosts(bootstrap::Bootstrap& bootstrap, const HostClockOptions& options)
        : bootstrap_{bootstrap},
          options_{options},
          windows_{transport::make_windows(bootstrap, sizeof(Mail))} {}

    std::vector<Comparison> run() {
        std::vector<Comparison> comparisons;
        bootstrap::agree(bootstrap_, [&] {
            const int first = bootstrap_.local_ranks().front();
            if (bootstrap_.rank() != first) return answer(first);
            for (const int rank : bootstrap_.local_ranks())
                if (rank != first) comparisons.push_back(judge(rank, first, ask(rank)));
        });
        return comparisons;
    }

 private:
    Mail& mail(int rank) { return *reinterpret_cast<Mail*>(windows_->of(rank)); }

    void answer(int asker) {
        Mail& own = mail(bootstrap_.rank());
        for (std::int64_t round = 1; round <= options_.rounds; ++round) {
            await(own.question, round, asker);
            own.answer_ns = options_.clock();
            own.answered.store(round, std::memory_order_release);
        }
    }

    std::vector<Exchange> ask(int rank) {
        Mail& other = mail(rank);
        std::vector<Exchange> exchanges;
        for (std::int64_t round = 1; round <= options_.rounds; ++round) {
            Exchange exchange{.asked_ns = options_.clock()};
            other.question.store(round, std::memory_order_release);
            await(other.answered, round, rank);
            exchange.heard_ns = options_.clock();
            exchange.answered_ns = other.answer_ns;
            exchanges.push_back(exchange);
        }
        return exchanges;
    }

    void await(const std::atomic<std::int64_t>& number, std::int64_t least, int rank) const {
        constexpr int polls_between_looks = 1000;
        const std::int64_t begin = now_ns();
        for (int polls = 1; number.load(std::memory_order_acquire) < least; ++polls) {
            if (polls % polls_between_looks != 0) continue;
            if (now_ns() - begin > options_.patience_ns)
                throw Error{
                    ExitCode::timeout,
                    "rank " + std::to_string(rank) + " does not answer while the ranks compare their clocks"};
            sched_yield();
        }
    }

    static Comparison judge(int rank, int peer, std::vector<Exchange> exchanges) {
        const Offset offset = offset_of(exchanges);
        const Line line{
            .offset_ns = offset.contains(0) ? 0 : offset.middle_ns(), .error_ns = offset.error_ns()};
        return {rank, peer, line, std::move(exchanges)};
    }

    bootstrap::Bootstrap& bootstrap_;
    const HostClockOptions& options_;
    std::unique_ptr<transport::Windows> windows_;
};

}  // namespace

std::vector<Comparison> compare_on_hosts(bootstrap::Bootstrap& bootstrap, const HostClockOptions& options) {
    return OnHosts{bootstrap, options}.run();
}

}  // namespace ringscope::clock
