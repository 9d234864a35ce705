// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "trace/rows.hpp"
#include "trace/spill.hpp"

namespace ringscope::bench {

/// Where a rank may put rows aside. The name is empty where no file is written: then they stay in memory.
struct SpillPlace {
    std::string path;
    trace::SpillOrigin origin;
};

/// The events that one rank has of the running case: in memory up to a limit, the older ones in its spill.
/// Used between samples and after them, never on a timed path.
class EventStore {
 public:
    EventStore(std::int64_t most_in_memory, SpillPlace place)
        : most_in_memory_{most_in_memory}, place_{std::move(place)} {}

    /// Those of one traced iteration. What fails here is thrown by take(): no other rank shall wait for one
    /// that could not write.
    void add(std::span<const trace::EventRow> events) noexcept;
    [[nodiscard]] std::int64_t size() const { return size_; }
    /// Events of each traced iteration, in order.
    [[nodiscard]] const std::vector<std::int64_t>& iterations() const { return iterations_; }

    /// The next `count` events, or as many as are left, in the order in which they were added.
    [[nodiscard]] std::vector<trace::EventRow> take(std::int64_t count);

    /// Forgets everything, for the next case.
    void clear();

    /// The run ends within the case: puts all of it into the spill, with the samples. Does what it can where
    /// that fails, for the run ends for another reason.
    void leave(std::span<const trace::SampleRow> samples) noexcept;

    /// The run is over: nothing of it has to be kept.
    void remove();

 private:
    void hold(std::span<const trace::EventRow> events);
    void move_out();
    [[nodiscard]] trace::SpillWriter& spill();
    [[nodiscard]] std::vector<trace::EventRow> next_from_spill();

    std::int64_t most_in_memory_;
    SpillPlace place_;
    std::vector<trace::EventRow> events_;
    std::int64_t size_ = 0, spilled_ = 0;
    std::vector<std::int64_t> iterations_;
    std::exception_ptr failure_;
    std::optional<trace::SpillWriter> spill_;
    std::optional<trace::SpillReader> reader_;
    std::vector<trace::EventRow> read_;  ///< of a record, or of memory: what was not yet taken begins at ...
    std::size_t taken_ = 0;
};

/// Brings the events of all ranks to rank 0, slice by slice, so that no rank ever holds all of them. Rank 0
/// calls `consume` for each slice: whole iterations, or a part of one that is too large, with the events of
/// rank 0 in order, then those of rank 1. [collective] What fails on a rank is thrown on all, as AgreedError.
void gather_events(
    bootstrap::Bootstrap& bootstrap, EventStore& store,
    const std::function<void(const std::vector<trace::EventRow>&)>& consume
);

/// A number for each rank, or for each iteration.
using Numbers = std::vector<std::int64_t>;

/// How many events each rank sends in each round: of as many whole iterations as have `most` events in all,
/// and where one has more, in the order of the ranks. `iterations[r]` are the events of rank r in each.
[[nodiscard]] std::vector<Numbers> rounds(const std::vector<Numbers>& iterations, std::int64_t most);

}  // namespace ringscope::bench
