// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/collective.hpp"
#include "engine/cuda/program.hpp"
#include "schedule/plan.hpp"

namespace ringscope::engine::cuda {

/// One end of a rank on a channel.
struct EndKey {
    std::int32_t peer = 0;
    bool sends = false;
    auto operator<=>(const EndKey&) const = default;
};

/// Where the connections of a plan lie in each rank's arena or window: the counters of its own ends, which
/// the other ranks write, and then the slots of what it receives. Every rank computes the same.
class Layout {
 public:
    Layout() = default;  ///< of no connections
    explicit Layout(const schedule::Plan& plan);

    /// The largest number of ends that a rank has on a channel.
    [[nodiscard]] std::int32_t ends() const { return ends_; }
    /// Bytes that connections take, the same on all ranks.
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] const std::vector<EndKey>& ends_of(std::int32_t rank, std::int32_t channel) const {
        return keys_[static_cast<std::size_t>(channel)][static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] std::int64_t counter_at(std::int32_t rank, std::int32_t channel, EndKey end) const;
    /// Of the slots that `rank` receives from `peer` in.
    [[nodiscard]] std::int64_t slots_at(std::int32_t rank, std::int32_t channel, std::int32_t peer) const;

 private:
    [[nodiscard]] std::int64_t index_of(std::int32_t rank, std::int32_t channel, EndKey end) const;

    std::vector<std::vector<std::vector<EndKey>>> keys_;  ///< [channel][rank], receiving ends first
    std::int32_t ends_ = 0;
    std::int64_t inboxes_ = 0;  ///< of a channel, at most
    std::int64_t inbox_bytes_ = 0, slots_begin_ = 0, bytes_ = 0;
};

/// The largest number of messages of an op. Throws Error (unusable_engine) when kernels have no room for it.
[[nodiscard]] std::size_t most_messages(const schedule::Plan& plan);

/// Which message a row of a traced run belongs to.
struct RowInfo {
    std::int32_t channel = 0, op = 0, message = 0;
    trace::Direction direction = trace::Direction::send;
};

/// A rank's program as its kernel reads it.
struct Image {
    std::vector<std::byte> bytes;  ///< of all channels
    std::int64_t stride = 0;
    std::int32_t records_at = 0, record_stride = 0, first_bytes = 0, window = 0;
    bool fits_twice = true;  ///< no connection takes more slots in two operations than it has
    std::vector<RowInfo> rows;
};

/// Fills in what kernels of LL and LL128 leave out of the rows of one operation: the messages of an op begin
/// and end together, and the first line of one that did not have to wait could go out at once. `rows` as in
/// `infos`, each op's messages behind one another.
void complete_rows(std::span<Row> rows, std::span<const RowInfo> infos);

struct ImageRequest {
    std::int32_t rank = 0;
    std::int32_t divisor = 0;         ///< > 0: the finishing ops divide by it
    std::int64_t min_part_bytes = 1;  ///< a part shorter than this is not worth a flag of its own
    std::vector<std::byte*> memory;   ///< of each rank, where connections lie, as this rank's GPU sees it
    bool within_reach = false;  ///< user buffers lie in that memory too, at the same offset on all ranks
};

/// Throws Error (unusable_engine) for a plan with more connections or peers per op than kernels have room
/// for.
[[nodiscard]] Image make_image(const schedule::Plan& plan, const Layout& layout, const ImageRequest& request);

}  // namespace ringscope::engine::cuda
