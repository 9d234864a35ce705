// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "clock/clocks.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace ringscope::clock {
namespace {

/// Clocks keep their pace for so long; what they do not is in the error of the line.
constexpr std::int64_t memory_ns = 30'000'000'000;

template <class Value>
void put(std::string& bytes, const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(Value));
}

template <class Value>
Value take(const std::string& bytes, std::size_t& at) {
    Value value;
    std::memcpy(&value, bytes.data() + at, sizeof(Value));
    at += sizeof(Value);
    return value;
}

std::string pack(const std::vector<Comparison>& comparisons) {
    std::string bytes;
    for (const Comparison& c : comparisons) {
        put(bytes, c.rank);
        put(bytes, c.peer);
        put(bytes, c.line);
        put(bytes, c.exchanges.size());
        for (const Exchange& exchange : c.exchanges) put(bytes, exchange);
    }
    return bytes;
}

std::vector<Comparison> unpack(const std::string& bytes) {
    std::vector<Comparison> comparisons;
    for (std::size_t at = 0; at < bytes.size();) {
        Comparison c;
        c.rank = take<int>(bytes, at);
        c.peer = take<int>(bytes, at);
        c.line = take<Line>(bytes, at);
        c.exchanges.resize(take<std::size_t>(bytes, at));
        for (Exchange& exchange : c.exchanges) exchange = take<Exchange>(bytes, at);
        comparisons.push_back(std::move(c));
    }
    return comparisons;
}

std::vector<int> first_ranks(bootstrap::Bootstrap& bootstrap) {
    std::vector<int> first;
    for (const std::string& rank : bootstrap.all_gather(std::to_string(bootstrap.local_ranks().front())))
        first.push_back(std::stoi(rank));
    std::ranges::sort(first);
    first.erase(std::ranges::unique(first).begin(), first.end());
    return first;
}

/// A rank is asked by one with a lower number, whose line is known then.
std::vector<Line> along_the_tree(const std::vector<Comparison>& by_rank) {
    std::vector<Line> lines(by_rank.size());
    for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
        const Comparison& c = by_rank[rank];
        lines[rank] = c.peer == 0 ? c.line : compose(lines[static_cast<std::size_t>(c.peer)], c.line);
    }
    return lines;
}

void share(bootstrap::Bootstrap& bootstrap, std::vector<Line>& lines) {
    std::string bytes;
    for (const Line& line : lines) put(bytes, line);
    bootstrap.broadcast(bytes, 0);
    std::size_t at = 0;
    for (Line& line : lines) line = take<Line>(bytes, at);
}

}  // namespace

Clocks::Clocks(bootstrap::Bootstrap& bootstrap, ClockOptions options)
    : bootstrap_{bootstrap},
      options_{std::move(options)},
      hosts_{first_ranks(bootstrap)},
      known_(static_cast<std::size_t>(bootstrap.size())),
      lines_(static_cast<std::size_t>(bootstrap.size())) {}

std::vector<Comparison> Clocks::compare() {
    std::vector<Comparison> mine = compare_on_hosts(bootstrap_, options_.on_host);
    if (bootstrap_.rank() == 0) mine.insert(mine.begin(), Comparison{});
    for (Comparison& c : compare_hosts(compared_ ? options_.brief : options_.thorough))
        mine.push_back(std::move(c));
    compared_ = true;
    return settle(mine);
}

std::vector<Comparison> Clocks::keep_up() {
    if (!span_hosts()) return {};
    return settle(compare_hosts(options_.brief));
}

std::vector<Comparison> Clocks::compare_hosts(const Effort& effort) {
    std::vector<Comparison> mine;
    if (std::ranges::find(hosts_, bootstrap_.rank()) == hosts_.end()) return mine;
    for (Told& told : compare_over_messages(bootstrap_, hosts_, effort, options_.messages)) {
        remember(told.rank, shortest_of_series(told.exchanges, effort.questions));
        mine.push_back({told.rank, bootstrap_.rank(), fit(answers_[told.rank]), std::move(told.exchanges)});
    }
    return mine;
}

void Clocks::remember(int rank, const std::vector<Exchange>& exchanges) {
    std::vector<Exchange>& answers = answers_[rank];
    answers.insert(answers.end(), exchanges.begin(), exchanges.end());
    const std::int64_t oldest_ns = answers.back().asked_ns - memory_ns;
    std::erase_if(answers, [&](const Exchange& e) { return e.asked_ns < oldest_ns; });
}

std::vector<Comparison> Clocks::gather(const std::vector<Comparison>& mine) {
    std::vector<Comparison> all;
    for (const std::string& bytes : bootstrap_.gather(pack(mine), 0))
        for (Comparison& c : unpack(bytes)) all.push_back(std::move(c));
    std::ranges::sort(all, {}, &Comparison::rank);
    return all;
}

/// Rank 0 makes lines of what all have found, and all get them.
std::vector<Comparison> Clocks::settle(const std::vector<Comparison>& mine) {
    std::vector<Comparison> all = gather(mine);
    for (const Comparison& c : all) known_[static_cast<std::size_t>(c.rank)] = {c.rank, c.peer, c.line};
    if (bootstrap_.rank() == 0) lines_ = along_the_tree(known_);
    share(bootstrap_, lines_);
    for (const Comparison& c : known_)
        if (c.peer != 0) all.push_back({c.rank, 0, of(c.rank)});
    return all;
}

}  // namespace ringscope::clock
