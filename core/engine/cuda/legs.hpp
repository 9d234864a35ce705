// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/cuda/layout.hpp"
#include "engine/host/wait.hpp"
#include "schedule/plan.hpp"

// A rank's program as work for streams, where copy engines move the data through windows of the host. Per
// part of an op:
//
//   receive:  await data, fetch, post the credit      one after the other for each message
//   compute:  combine
//   send:     await the credit, put, post the data    likewise
//
// Within a lane legs are played in the order of the program, and between lanes as `after` says. So whatever
// the sequential program, which the planner rehearsed, has done at some point, the lanes can have done too:
// they only give credits earlier and take in data earlier. No deadlock is added.
namespace ringscope::engine::cuda {

/// A stream of a rank.
enum class Lane : std::int8_t { receive, compute, send };
inline constexpr int lanes = 3;

enum class Work : std::int8_t {
    await,    ///< until the other end posted message `number`, or gave back the slot that it will lie in
    fetch,    ///< from the slot in the own window to staging memory of the device
    combine,  ///< staging memory and user buffers, to the output and to staging memory
    put,      ///< from staging memory to the slot in the peer's window
    post      ///< at the other end: that the slot was read, or that the message is there
};

/// This rank's end of a connection, by offsets into windows.
struct Link {
    std::int32_t channel = 0, peer = 0;
    bool sends = false;
    std::int64_t counter_at = 0;  ///< in the own window, written by the peer
    std::int64_t posts_at = 0;    ///< in the peer's window
    std::int64_t slots_at = 0;    ///< in the receiver's window
    std::uint64_t total = 0;      ///< messages of one operation, a part each
};

/// What a combining leg does.
struct Combine {
    schedule::Range bytes;             ///< of the message
    std::vector<std::int32_t> staged;  ///< staging slots of what was received, in the order of the peers
    std::int32_t local_at = -1;        ///< place of the own contribution among the sources; -1: none
    bool local_is_output = false, store = false;
    std::int32_t divisor = 0;  ///< > 0 where an avg is finished
    std::int32_t result = -1;  ///< staging slot of the result; -1: nothing is sent
};

struct Leg {
    Lane lane = Lane::compute;
    Work work = Work::combine;
    std::array<std::int32_t, 2> after{-1, -1};  ///< legs of other lanes that are done before; -1: none
    std::int32_t index = 0;                     ///< in Legs::combines of a combine, else in Legs::links
    std::uint64_t number = 0;                   ///< of the message on its link, from 1 in every operation
    std::int32_t staging = -1;
    std::int64_t bytes = 0;
    std::int32_t row = -1;  ///< of the message's event
    bool first_part = true;
    host::Where where{};  ///< what is awaited
};

struct Legs {
    std::vector<Link> links;
    std::vector<Combine> combines;
    std::vector<Leg> legs;
    std::vector<RowInfo> rows;
    std::int32_t staging_slots = 0;
};

/// `request.memory` and `request.first_number` have no meaning here. Throws Error (unusable_engine) for a
/// plan with more messages per op than the combining kernel has room for.
[[nodiscard]] Legs make_legs(const schedule::Plan& plan, const Layout& layout, const ImageRequest& request);

}  // namespace ringscope::engine::cuda
