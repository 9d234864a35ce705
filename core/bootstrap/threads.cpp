// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "bootstrap/bootstrap.hpp"

namespace ringscope::bootstrap {
namespace {

/// Where the threads meet: each puts its bytes down, the last one to arrive opens the round for all. Messages
/// to one of them lie there until it comes for them.
class MeetingPoint {
 public:
    explicit MeetingPoint(int ranks) : bytes_(static_cast<std::size_t>(ranks)) {}

    std::vector<std::string> exchange(int rank, const std::string& bytes) {
        std::unique_lock lock{mutex_};
        bytes_[static_cast<std::size_t>(rank)] = bytes;
        const std::int64_t round = round_;
        if (++arrived_ == bytes_.size()) {
            result_ = bytes_;
            arrived_ = 0;
            ++round_;
            all_here_.notify_all();
        }
        all_here_.wait(lock, [&] { return round_ != round || broken_; });
        if (round_ == round) throw Error{ExitCode::internal, "another rank has failed"};
        return result_;
    }

    void leave(int from, int to, const std::string& bytes) {
        const std::lock_guard lock{mutex_};
        Mailbox& mailbox = mailboxes_[{from, to}];
        mailbox.messages.push_back(bytes);
        mailbox.filled.notify_one();
    }

    std::string fetch(int from, int to) {
        std::unique_lock lock{mutex_};
        Mailbox& mailbox = mailboxes_[{from, to}];
        mailbox.filled.wait(lock, [&] { return !mailbox.messages.empty() || broken_; });
        if (mailbox.messages.empty()) throw Error{ExitCode::internal, "another rank has failed"};
        std::string bytes = std::move(mailbox.messages.front());
        mailbox.messages.pop_front();
        return bytes;
    }

    void leave_for_good() {
        const std::lock_guard lock{mutex_};
        broken_ = true;
        all_here_.notify_all();
        for (auto& [ends, mailbox] : mailboxes_) mailbox.filled.notify_all();
    }

 private:
    struct Mailbox {
        std::deque<std::string> messages;
        std::condition_variable filled;
    };

    std::mutex mutex_;
    std::condition_variable all_here_;
    std::map<std::pair<int, int>, Mailbox> mailboxes_;  ///< by sender and receiver
    std::vector<std::string> bytes_, result_;
    std::size_t arrived_ = 0;
    std::int64_t round_ = 0;
    bool broken_ = false;
};

class ThreadBootstrap final : public Bootstrap {
 public:
    ThreadBootstrap(int rank, int size, MeetingPoint& point) : rank_{rank}, point_{point} {
        local_ranks_.resize(static_cast<std::size_t>(size));
        std::iota(local_ranks_.begin(), local_ranks_.end(), 0);
    }

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(local_ranks_.size()); }
    [[nodiscard]] const std::vector<int>& local_ranks() const override { return local_ranks_; }
    [[nodiscard]] bool shares_address_space() const override { return true; }

    void barrier() override { point_.exchange(rank_, ""); }
    void broadcast(std::string& bytes, int root) override {
        bytes = point_.exchange(rank_, rank_ == root ? bytes : "")[static_cast<std::size_t>(root)];
    }
    std::vector<std::string> all_gather(const std::string& bytes) override {
        return point_.exchange(rank_, bytes);
    }
    std::vector<std::string> gather(const std::string& bytes, int root) override {
        auto all = point_.exchange(rank_, bytes);
        return rank_ == root ? all : std::vector<std::string>{};
    }
    void send(const std::string& bytes, int to) override { point_.leave(rank_, to, bytes); }
    std::string receive(int from) override { return point_.fetch(from, rank_); }

 private:
    int rank_;
    MeetingPoint& point_;
    std::vector<int> local_ranks_;
};

}  // namespace

void run_as_threads(int ranks, const std::function<void(Bootstrap&)>& body) {
    MeetingPoint point{ranks};
    std::mutex mutex;
    std::exception_ptr first;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                ThreadBootstrap bootstrap{rank, ranks, point};
                body(bootstrap);
            } catch (...) {
                const std::lock_guard lock{mutex};
                if (!first) first = std::current_exception();
                point.leave_for_good();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    if (first) std::rethrow_exception(first);
}

}  // namespace ringscope::bootstrap
