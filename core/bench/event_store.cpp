// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/event_store.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/bytes.hpp"
#include "trace/row_bytes.hpp"

namespace ringscope::bench {
namespace {

using trace::EventRow;

constexpr std::int64_t slice = 65536;  // events of all ranks that travel at a time: some 40 MB at rank 0

std::vector<Numbers> share(bootstrap::Bootstrap& bootstrap, const Numbers& mine) {
    ByteWriter bytes;
    bytes.number(mine.size());
    for (const std::int64_t number : mine) bytes.integer(number);
    std::vector<Numbers> all;
    for (const std::string& packed : bootstrap.all_gather(bytes.take())) {
        ByteReader reader{packed};
        all.emplace_back(reader.number());
        for (std::int64_t& number : all.back()) number = reader.integer();
    }
    return all;
}

/// An iteration that is more than a round, rank by rank.
void cut(Numbers left, std::int64_t most, std::vector<Numbers>& rounds) {
    while (std::ranges::any_of(left, [](std::int64_t events) { return events > 0; })) {
        Numbers& round = rounds.emplace_back();
        std::int64_t room = most;
        for (std::int64_t& events : left) {
            round.push_back(std::min(events, room));
            events -= round.back();
            room -= round.back();
        }
    }
}

std::int64_t sum(const Numbers& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

/// A rank that sent nothing though it had something failed, and says so itself.
std::vector<EventRow> unpack(const std::vector<std::string>& parts, const Numbers& round) {
    std::vector<EventRow> events;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        if (parts[rank].empty()) continue;
        const std::vector<EventRow> part = trace::from_bytes<EventRow>(parts[rank], round[rank]);
        events.insert(events.end(), part.begin(), part.end());
    }
    return events;
}

/// Remembers the first error of steps that have to go on for the sake of the other ranks.
class Remembered {
 public:
    template <typename Step>
    void attempt(Step step) noexcept {
        try {
            if (!error_) step();
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

 private:
    std::exception_ptr error_;
};

}  // namespace

void EventStore::add(std::span<const EventRow> events) noexcept {
    size_ += std::ssize(events);
    try {
        iterations_.push_back(std::ssize(events));
        if (!failure_) hold(events);
    } catch (...) {
        failure_ = std::current_exception();
        events_ = {};
    }
}

void EventStore::hold(std::span<const EventRow> events) {
    events_.insert(events_.end(), events.begin(), events.end());
    if (std::ssize(events_) > most_in_memory_ && !place_.path.empty()) move_out();
}

void EventStore::move_out() {
    spill().append(std::span<const EventRow>{events_});
    spilled_ += std::ssize(events_);
    events_.clear();
}

trace::SpillWriter& EventStore::spill() {
    if (!spill_) spill_.emplace(place_.path, place_.origin);
    return *spill_;
}

std::vector<EventRow> EventStore::take(std::int64_t count) {
    if (failure_) std::rethrow_exception(failure_);
    std::vector<EventRow> taken;
    while (std::ssize(taken) < count) {
        if (taken_ == read_.size()) {
            read_ = spilled_ > 0 ? next_from_spill() : std::exchange(events_, {});
            taken_ = 0;
            if (read_.empty()) break;
        }
        const auto begin = read_.begin() + static_cast<std::ptrdiff_t>(taken_);
        const auto part =
            std::min(count - std::ssize(taken), std::ssize(read_) - static_cast<std::int64_t>(taken_));
        taken.insert(taken.end(), begin, begin + part);
        taken_ += static_cast<std::size_t>(part);
    }
    return taken;
}

std::vector<EventRow> EventStore::next_from_spill() {
    if (!reader_) reader_.emplace(place_.path);
    const std::optional<trace::Record> record = reader_->next();
    if (!record) throw Error{ExitCode::output, "cannot read back " + place_.path + ": it is damaged"};
    spilled_ -= record->rows;
    return record->as<EventRow>();
}

void EventStore::clear() {
    events_.clear();
    read_.clear();
    taken_ = 0;
    size_ = spilled_ = 0;
    iterations_.clear();
    failure_ = nullptr;
    reader_.reset();
    if (spill_) spill_->restart();
}

void EventStore::leave(std::span<const trace::SampleRow> samples) noexcept {
    if (place_.path.empty() || (samples.empty() && size_ == 0)) return;
    try {
        spill().append(samples);
        move_out();
    } catch (const std::exception&) {  // the rest is lost, what was written before is not
    }
}

void EventStore::remove() {
    if (spill_) spill_->remove();
    spill_.reset();
}

std::vector<Numbers> rounds(const std::vector<Numbers>& iterations, std::int64_t most) {
    std::vector<Numbers> all;
    Numbers open(iterations.size());
    for (std::size_t i = 0; i < iterations.front().size(); ++i) {
        Numbers next;
        for (const Numbers& of_rank : iterations) next.push_back(of_rank.at(i));
        if (sum(open) + sum(next) > most) cut(std::exchange(open, Numbers(next.size())), most, all);
        for (std::size_t rank = 0; rank < next.size(); ++rank) open[rank] += next[rank];
    }
    cut(open, most, all);
    return all;
}

void gather_events(
    bootstrap::Bootstrap& bootstrap, EventStore& store,
    const std::function<void(const std::vector<EventRow>&)>& consume
) {
    Remembered fault;
    for (const Numbers& round : rounds(share(bootstrap, store.iterations()), slice)) {
        std::string mine;
        fault.attempt([&] {
            const auto part = store.take(round[static_cast<std::size_t>(bootstrap.rank())]);
            mine = trace::to_bytes(std::span{part});
        });
        const std::vector<std::string> parts = bootstrap.gather(mine, 0);
        if (bootstrap.rank() == 0) fault.attempt([&] { consume(unpack(parts, round)); });
    }
    bootstrap::agree(bootstrap, [&] { fault.rethrow(); });
}

}  // namespace ringscope::bench
