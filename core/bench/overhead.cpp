// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/overhead.hpp"

#include <algorithm>
#include <cmath>

#include "bench/sample_plan.hpp"

namespace ringscope::bench {
namespace {

using Group = std::vector<double>;

/// Traced samples between two groups of untraced ones.
struct Block {
    Group before, traced, after;

    [[nodiscard]] double untraced_ns() const {
        Group both = before;
        both.insert(both.end(), after.begin(), after.end());
        return median(std::move(both));
    }
    [[nodiscard]] double ns() const { return median(traced) - untraced_ns(); }
    [[nodiscard]] double share() const { return median(traced) / untraced_ns() - 1; }
};

/// Runs of samples of one kind; the first is of untraced ones, which may be none.
std::vector<Group> groups_of(std::span<const TimedSample> samples) {
    std::vector<Group> groups(1);
    for (const TimedSample& sample : samples) {
        const bool is_traced = groups.size() % 2 == 0;
        if (sample.traced != is_traced) groups.emplace_back();
        groups.back().push_back(sample.ns);
    }
    return groups;
}

/// Of groups that are untraced, traced, untraced and so on.
std::vector<Block> blocks_of(const std::vector<Group>& groups) {
    std::vector<Block> blocks;
    for (std::size_t i = 1; i < groups.size(); i += 2) {
        const Group after = i + 1 < groups.size() ? groups[i + 1] : Group{};
        if (groups[i - 1].empty() && after.empty()) continue;
        blocks.push_back({groups[i - 1], groups[i], after});
    }
    return blocks;
}

template <class Get>
std::vector<double> each(const std::vector<Block>& blocks, Get get) {
    std::vector<double> values;
    for (const Block& block : blocks) values.push_back(get(block));
    return values;
}

/// Untraced samples alone, dealt out as if every other group of them had been traced.
double noise_floor_of(std::span<const TimedSample> samples) {
    constexpr std::int64_t fewest = 6, most = 10;
    Group untraced;
    for (const TimedSample& sample : samples) {
        if (!sample.traced) untraced.push_back(sample.ns);
    }
    const std::int64_t blocks = std::min((std::ssize(untraced) - 1) / 2, most);
    if (blocks < fewest) return trace::nan;
    std::vector<Group> groups;
    for (std::int64_t i = 0; i < 2 * blocks + 1; ++i) {
        groups.emplace_back(
            untraced.begin() + part_begin(std::ssize(untraced), 2 * blocks + 1, i),
            untraced.begin() + part_begin(std::ssize(untraced), 2 * blocks + 1, i + 1)
        );
    }
    const Interval interval =
        median_interval(each(blocks_of(groups), [](const Block& b) { return b.share(); }));
    return std::max(std::abs(interval.low), std::abs(interval.high));
}

}  // namespace

Overhead measure_overhead(std::span<const TimedSample> samples) {
    const std::vector<Block> blocks = blocks_of(groups_of(samples));
    const std::vector<double> shares = each(blocks, [](const Block& b) { return b.share(); });
    return {
        .share = median(shares),
        .interval = median_interval(shares),
        .ns = median(each(blocks, [](const Block& b) { return b.ns(); })),
        .noise_floor = noise_floor_of(samples)};
}

}  // namespace ringscope::bench
