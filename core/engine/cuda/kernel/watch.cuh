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
    __device__ void opened(const Launch&) {}
    __device__ std::int64_t begin(const Record&) { return 0; }
    __device__ void begin_parts() {}
    __device__ void credit_ready(int) {}
    __device__ void data_ready(int, int) {}
    __device__ void part_begin() {}
    __device__ void part_ready(int) {}
    __device__ void stored(const Port&, int) {}
    __device__ void hand_over(const Record&, int, unsigned int, std::int64_t) {}
    __device__ void posting(unsigned int) {}
    __device__ void posted(unsigned int, bool) {}
    __device__ void end(const Record&, std::int64_t, std::int64_t, bool) {}
    __device__ void close(const Channel&, const Launch&) {}
};

/// One row per message: lane i of the first warp keeps that of port i. A row is 48 bytes to device memory per
/// message, which nobody waits for; the host fetches the rows after the sample. Which operation of the sample
/// this is, each channel counts in device memory, for a graph's launches are all alike.
class TraceWatch {
 public:
    static constexpr bool watches = true;
    struct Board {
        Row rows[posts_in_flight][warp_size];  ///< Simple: from the copying to the posting warp
        int index[posts_in_flight][warp_size];
        bool is_first[posts_in_flight];
        std::int64_t ready[most_ports];  ///< LL, LL128: a send's credit, a receive's first data
        std::int64_t first_row;          ///< of this operation
    };
    __device__ TraceWatch(Board& board, const Launch& launch)
        : board_{board}, rows_{launch.rows}, operation_{launch.traced[blockIdx.x]} {}

    /// Once the block is set up, so that the counter's load was under way together with all others; and at
    /// once, so that nothing has to be waited for at the end.
    __device__ void opened(const Launch& launch) {
        if (threadIdx.x != 0) return;
        board_.first_row = operation_ * launch.rows_per_operation;
        launch.traced[blockIdx.x] = operation_ + 1;
    }
    __device__ void stored(const Port&, int) {}
    __device__ void close(const Channel&, const Launch&) {}

    // LL and LL128: done is when the first warp has moved its lines. A barrier for the others would cost more
    // than they are late, for the lines of an op are dealt out in turn. What is kept of an op is the caller's
    // or on the board: functions that are not inlined would have it in memory of each thread.

    /// When the op began.
    __device__ std::int64_t begin(const Record& record) {
        const int i = static_cast<int>(threadIdx.x);
        const std::int64_t now = global_ns();
        if (i < record.port_count()) board_.ready[i] = now;
        if (i < warp_size) __syncwarp();  // thread 0 stamps ports of other lanes
        return now;
    }
    __device__ void credit_ready(int port) { board_.ready[port] = global_ns(); }
    __device__ void data_ready(int port, int place) {
        if (place == 0) board_.ready[port] = global_ns();
    }
    __device__ void end(const Record& record, std::int64_t begin, std::int64_t wire_bytes, bool alive) {
        const int i = static_cast<int>(threadIdx.x);
        if (i >= warp_size) return;
        __syncwarp();  // thread 0 stamped them
        if (i >= record.port_count() || !alive) return;
        Row row;
        row.begin = begin;
        row.ready = row.posted = board_.ready[i];  // a send's first line goes out as soon as it may
        row.wait = row.ready - begin;
        row.payload = static_cast<std::uint32_t>(record.op.size);
        row.wire = static_cast<std::uint32_t>(wire_bytes);
        row.end = global_ns();
        rows_[board_.first_row + record.op.row + i] = row;
    }

    // Simple

    __device__ void begin_parts() {
        row_ = {};
        row_.begin = row_.ready = global_ns();
    }
    __device__ void part_begin() { last_ = global_ns(); }
    __device__ void part_ready(int part) {
        const std::int64_t now = global_ns();
        if (part == 0) row_.ready = now;
        row_.wait += now - last_;
    }
    __device__ void hand_over(const Record& record, int part, unsigned int place, std::int64_t bytes) {
        const int lane = static_cast<int>(threadIdx.x);
        row_.payload += static_cast<std::uint32_t>(bytes);
        row_.wire += static_cast<std::uint32_t>(bytes);
        const bool last = part == record.op.parts - 1 && lane < record.port_count();
        board_.index[place][lane] = last ? record.op.row + lane : -1;
        board_.is_first[place] = part == 0;
        if (last) board_.rows[place][lane] = row_;
    }
    __device__ void posting(unsigned int place) {
        if (board_.is_first[place]) posted_ = global_ns();
    }
    __device__ void posted(unsigned int place, bool alive) {
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        const int index = board_.index[place][lane];
        if (index < 0 || !alive) return;
        Row row = board_.rows[place][lane];
        row.posted = posted_;
        row.end = global_ns();
        rows_[board_.first_row + index] = row;
    }

 private:
    Board& board_;
    Row* rows_;
    std::uint32_t operation_;  ///< of the sample
    Row row_;                  ///< Simple: a lane's port, while its parts are moved
    std::int64_t last_ = 0, posted_ = 0;
};

/// Every thread counts the bytes that it stores into a peer's slots, per connection. For tests: it knows
/// nothing of ops and sizes.
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
