// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/simple.cuh"

// What is observed of a kernel while it runs: a template argument, so that nothing of it is left in the
// untraced one.
namespace ringscope::engine::cuda {

struct NoWatch {
    static constexpr bool watches = false;
    struct Board {};
    __device__ NoWatch(Board&, const Launch&) {}
    __device__ void open(const Launch&) {}
    __device__ Row* begin(const Op&, int) { return nullptr; }
    __device__ void credit_ready(Row*, int) {}
    __device__ void data_ready(Row*, int, int) {}
    __device__ void end(Row*) {}
    __device__ void part_begin(int, unsigned int) {}
    __device__ void part_ready(const Op&, int, std::int64_t, unsigned int) {}
    __device__ void stored(const Port&, int) {}
    __device__ void loaded(const Port&, int) {}
    __device__ void posting(unsigned int) {}
    __device__ void posted(unsigned int) {}
    __device__ void close(const Channel&, const Launch&) {}
};

/// One row per message, in device memory, stored stamp by stamp: nobody waits for a store, and a row that was
/// put together first would be on the way of the message. The host fetches the rows after the sample. Which
/// operation of the sample this is, each channel counts in device memory, for a graph's launches are all
/// alike.
class TraceWatch {
 public:
    static constexpr bool watches = true;
    struct Board {
        Row* rows;  ///< of this operation
        /// Simple, from the copying to the posting warp.
        struct Part {
            std::int64_t begin, ready, wait;
            std::uint32_t bytes;
            int row;  ///< -1: none, the op has further parts
        } parts[posts_in_flight][warp_size];
        bool is_first[posts_in_flight];
    };
    __device__ TraceWatch(Board& board, const Launch&) : board_{board} {}

    /// Once the kernel before has ended, for it counts too. The next count is left at once, so that nothing
    /// has to be waited for at the end.
    __device__ void open(const Launch& launch) {
        if (threadIdx.x != 0) return;
        const std::uint32_t operation = launch.traced[blockIdx.x];
        board_.rows = launch.rows + operation * launch.rows_per_operation;
        launch.traced[blockIdx.x] = operation + 1;
    }
    __device__ void stored(const Port&, int) {}
    __device__ void loaded(const Port&, int) {}
    __device__ void close(const Channel&, const Launch&) {}

    // LL and LL128, by thread 0, which moves the first line. Done is an op when this thread has moved its
    // lines: a barrier for the others would cost more than they are late, for the lines of an op are dealt
    // out in turn. The row of an op's first message has what they share, and complete_rows() gives it to the
    // others.

    /// Before the op waits for anything. `wire`: bytes. Returns the row of the op's first message.
    __device__ Row* begin(const Op& op, int wire) {
        Row* row = board_.rows + op.row;
        if (threadIdx.x == 0) {
            row->begin = global_ns();
            row->payload = static_cast<std::uint32_t>(op.size);
            row->wire = static_cast<std::uint32_t>(wire);
        }
        return row;
    }
    __device__ void credit_ready(Row* row, int port) { row[port].ready = global_ns(); }
    __device__ void data_ready(Row* row, int port, int place) {
        if (place == 0) row[port].ready = global_ns();
    }
    __device__ void end(Row* row) {
        if (threadIdx.x == 0) row->end = global_ns();
    }

    // Simple: lane i of the first warp keeps the row of port i, until the posting warp stores it.

    __device__ void part_begin(int part, unsigned int place) {
        last_ = global_ns();
        if (part == 0) {
            begin_ = last_;
            wait_ = 0;
            bytes_ = 0;
        }
        board_.parts[place][threadIdx.x].row = -1;
        board_.is_first[place] = part == 0;
    }
    __device__ void part_ready(const Op& op, int part, std::int64_t bytes, unsigned int place) {
        const std::int64_t now = global_ns();
        if (part == 0) ready_ = now;
        wait_ += now - last_;
        bytes_ += static_cast<std::uint32_t>(bytes);
        const int lane = static_cast<int>(threadIdx.x);
        if (part == op.parts - 1) board_.parts[place][lane] = {begin_, ready_, wait_, bytes_, op.row + lane};
    }
    __device__ void posting(unsigned int place) {
        if (board_.is_first[place]) posted_ = global_ns();
    }
    __device__ void posted(unsigned int place) {
        const Board::Part& part = board_.parts[place][threadIdx.x % warp_size];
        if (part.row < 0) return;
        board_.rows[part.row] = {part.begin, part.ready, posted_,   global_ns(),
                                 part.wait,  part.bytes, part.bytes};
    }

 private:
    Board& board_;
    // Simple: of a lane's port, while its parts are moved and posted.
    std::int64_t begin_ = 0, ready_ = 0, wait_ = 0, last_ = 0, posted_ = 0;
    std::uint32_t bytes_ = 0;
};

/// Every thread counts the bytes that it stores into a peer's memory, or loads from a peer's input, per
/// connection. For tests: it knows nothing of ops and sizes.
class CountWatch : public NoWatch {
 public:
    struct Board : NoWatch::Board {
        unsigned long long bytes[most_ends];
    };
    __device__ CountWatch(Board& board, const Launch& launch) : NoWatch{board, launch}, board_{board} {
        for (int i = static_cast<int>(threadIdx.x); i < most_ends; i += static_cast<int>(blockDim.x))
            board_.bytes[i] = 0;
    }
    __device__ void stored(const Port& port, int bytes) {
        atomicAdd_block(&board_.bytes[port.end], static_cast<unsigned long long>(bytes));
    }
    __device__ void loaded(const Port& port, int bytes) {
        if (port.place == schedule::Place::input) stored(port, bytes);
    }
    __device__ void close(const Channel& channel, const Launch& launch) {
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < channel.head().ends;
             i += static_cast<int>(blockDim.x)) {
            launch.counted[blockIdx.x * launch.ends + i] += board_.bytes[i];
        }
    }

 private:
    Board& board_;
};

}  // namespace ringscope::engine::cuda
