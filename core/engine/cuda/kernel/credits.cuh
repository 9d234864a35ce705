// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/wait.cuh"

namespace ringscope::engine::cuda {

/// How a protocol with flags in its lines, LL or LL128, keeps a slot from being overwritten before it was
/// read.
///
/// Where two operations fit into the slots of every connection, the slots of one are given back at the
/// beginning of the next: no thread waits for another one of its block in between, and the kernel does not
/// end with a trip to the peer. The peer is at most one operation behind what it needs to go on.
template <class Watch>
class Credits {
 public:
    __device__ Credits(Channel& channel, const Launch& launch, Watch& watch)
        : channel_{channel}, launch_{launch}, watch_{watch} {}

    __device__ void open() {
        if (launch_.late_credits) release_previous();
    }

    /// Whether a send of this op lacks a free slot, by the counters as they were last seen. Asked before the
    /// op is played, so that all threads of the block go by the same answer.
    __device__ bool lack(const Record& record) const {
        bool lacks = false;
#pragma unroll 1
        for (int i = record.op.recvs; i < record.port_count(); ++i) {
            const Port& port = record.ports[i];
            lacks = lacks || number(port) - channel_.seen[port.end] > launch_.slots;
        }
        return lacks;
    }

    __device__ __noinline__ void await(const Record& record, Row* row) {
        const int i = static_cast<int>(threadIdx.x);
        if (i >= record.op.recvs && i < record.port_count()) {
            const Port& port = record.ports[i];
            wait_for_counter(channel_, launch_, record.op, port, true, number(port));
            watch_.credit_ready(row, i);
        }
        __syncthreads();
    }

    /// After the op. A slot is free only when every thread has read its lines.
    __device__ void give_back(const Record& record) {
        if (launch_.late_credits || record.op.recvs == 0) return;
        __syncthreads();
        release(record);
    }

 private:
    __device__ std::uint64_t number(const Port& port) const {
        return number_of(channel_, port, 0);
    }

    /// Without a fence: only loads come before, and their values have been used.
    __device__ void release(const Record& record) {
        const int i = static_cast<int>(threadIdx.x);
        if (i >= record.op.recvs || channel_.alive == 0) return;
        store_relaxed(channel_.end(record.ports[i].end).posts_to, number(record.ports[i]));
    }

    __device__ void release_previous() {
        // By the last warp, which has the least to do.
        const int i = static_cast<int>(blockDim.x) - 1 - static_cast<int>(threadIdx.x);
        if (i >= channel_.head().receiving_ends) return;
        store_relaxed(channel_.end(i).posts_to, channel_.states[i].count);
    }

    Channel& channel_;
    const Launch& launch_;
    Watch& watch_;
};

}  // namespace ringscope::engine::cuda
