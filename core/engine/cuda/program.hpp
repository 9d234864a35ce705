// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "schedule/place.hpp"

// What a kernel reads: plain structs that host and device share. A channel is one block; everything that it
// needs lies in one piece of device memory, its image:
//
//   ChannelHead | End x ends | record x records
//
// so that its beginning comes into shared memory in one round of loads. A record is an Op with its Ports
// behind it, padded to a fixed stride. Nothing of it changes, so that a kernel may read it while the one
// before still runs; how far the ends are lies apart.
namespace ringscope::engine::cuda {

inline constexpr int most_ports = 32;       ///< receives and sends of one op: one lane of a warp each
inline constexpr int most_ends = 64;        ///< connections of one rank on one channel
inline constexpr int window_bytes = 8192;   ///< records that are in shared memory at a time
inline constexpr int counter_stride = 128;  ///< bytes between counters: one writer per cache line

struct ChannelHead {
    std::int32_t ends = 0;
    std::int32_t records = 0;
    std::int32_t receiving_ends = 0;  ///< they come first
    std::int32_t parts = 0;           ///< of all records
};

/// This rank's end of a connection.
struct alignas(16) End {
    std::byte* slots = nullptr;         ///< in the receiver's memory
    std::uint64_t* posts_to = nullptr;  ///< the counter at the other rank that this end writes
    std::int64_t distance = 0;          ///< bytes from this rank's user buffers to the other rank's
    std::uint32_t total = 0;            ///< slots that one operation takes
    std::int32_t peer = 0;
};

/// How far an end is. It lives on from one kernel to the next, so that a graph can be launched again.
struct alignas(16) EndState {
    std::uint64_t count = 0;     ///< slots that were posted or consumed before this kernel
    std::uint32_t position = 0;  ///< count modulo the number of slots
};

struct alignas(16) Op {
    std::int64_t begin = 0, size = 0;  ///< bytes of the message, of the user's buffers
    std::int64_t slice = 0;
    std::int32_t chunk = 0;
    std::int32_t divisor = 0;  ///< > 0 where an avg is finished
    std::int32_t parts = 1;
    std::int32_t row = 0;  ///< of the first port's event; the others follow
    std::int16_t recvs = 0, sends = 0;
    std::int8_t local_at = -1;  ///< place of the own contribution among the sources; -1: none
    std::uint8_t local_is_output = 0, store = 0;
    std::uint8_t moves = 0;  ///< 0: others move its messages, and it only waits and posts
};

/// A message of an op: the receives first, then the sends.
struct alignas(16) Port {
    std::uint16_t end = 0;
    std::uint16_t step = 0;
    std::uint32_t number = 0;  ///< slots that this operation took on the connection before
    std::uint32_t turn = 0;    ///< number modulo the slots
    schedule::Place place = schedule::Place::slot;
};

static_assert(
    sizeof(ChannelHead) == 16 && sizeof(End) == 32 && sizeof(EndState) == 16 && sizeof(Op) == 48 &&
    sizeof(Port) == 16
);

/// What a traced kernel keeps of one message; the host knows the rest by the row's number. Kernels of LL and
/// LL128 leave out what complete_rows() can tell.
struct alignas(16) Row {
    std::int64_t begin = 0, ready = 0;  ///< ns of %globaltimer
    std::int64_t posted = 0, end = 0;
    std::int64_t wait = 0;
    std::uint32_t payload = 0, wire = 0;  ///< bytes of the parts or lines that were moved
};

/// What a rank was waiting for when its time was up: the layout of host::StuckRecord.
struct Stuck {
    std::uint32_t valid;
    std::int32_t peer, step, chunk, for_credit;
    std::int64_t slice;
};

/// The parameters of one launch.
struct Launch {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    const std::byte* image = nullptr;     ///< of channel 0; the others follow
    std::int64_t image_stride = 0;        ///< bytes
    EndState* states = nullptr;           ///< of channel 0's ends; the others follow
    const std::byte* counters = nullptr;  ///< of channel 0's ends, written by the other ranks
    std::int32_t ends = 0;                ///< of a channel, at most
    std::int32_t records_at = 0;          ///< offset of an image's records
    std::int32_t record_stride = 0;       ///< bytes
    std::int32_t first_bytes = 0;         ///< of an image that are loaded at the start
    std::int32_t window = 0;              ///< records that are in shared memory at a time
    std::int32_t reduction = 0;
    std::int32_t late_credits = 0;  ///< 1: two operations take no more slots of any connection than there are
    std::int32_t aligned = 0;       ///< 1: user buffers are aligned to 16 bytes
    std::int32_t overlaps = 0;      ///< 1: may begin before the kernel before it ends
    std::uint32_t slots = 0;        ///< of every connection
    std::int64_t slot_bytes = 0;
    std::int64_t wait_ns = 0;
    Row* rows = nullptr;  ///< of a traced sample, one operation after the other
    std::int64_t rows_per_operation = 0;
    std::uint32_t* traced = nullptr;   ///< operations that were traced into them, counted by each channel
    std::uint64_t* counted = nullptr;  ///< of a counting launch: bytes stored, per channel and end
    std::uint32_t* abort = nullptr;    ///< the job's, in memory of the host
    Stuck* stuck = nullptr;            ///< this rank's, likewise
    std::uint32_t* gave_up = nullptr;  ///< this rank's, in device memory: whoever takes it reports
};

}  // namespace ringscope::engine::cuda
