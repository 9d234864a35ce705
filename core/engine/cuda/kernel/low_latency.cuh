// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/pack.cuh"
#include "engine/cuda/kernel/wait.cuh"

namespace ringscope::engine::cuda {

/// Protocol LL: a line of 16 bytes is {data, flag, data, flag}, stored and loaded whole. Each half of 8 bytes
/// arrives as one, so data and flag arrive together: no fence, no counter for data, one trip per hop.
///
/// The flag is the low half of the message's number. Old flags of a slot that later messages filled less could
/// match once the numbers wrap; therefore in the last `slots` messages of every half of the range the sender
/// fills the whole slot with the current flag.
template <class T, class Watch>
class LowLatency {
 public:
    __device__ LowLatency(Channel& channel, const Launch& launch, Watch& watch)
        : channel_{channel}, launch_{launch}, watch_{watch} {}

    __device__ void play() {
        for_each_record(
            channel_, launch_, static_cast<int>(blockDim.x), [] { __syncthreads(); },
            [&](const Record& record) { play_op(record); }
        );
    }

 private:
    using Pack = uint2;

    __device__ void play_op(const Record& record) {
        watch_.begin(record);
        if (lacks_credit(record)) await_credit(record);
        move(record);
        clean(record);
        if (record.op.recvs == 0 && !Watch::watches) return;
        // A slot is free only when every thread has read its lines.
        __syncthreads();
        release(record);
        watch_.end(record, channel_.alive != 0);
    }

    __device__ std::uint64_t number(const Port& port) const { return number_of(channel_, port, 0); }

    /// The same answer in all threads: what they look at changes between barriers only.
    __device__ bool lacks_credit(const Record& record) const {
        bool lacks = false;
#pragma unroll 1
        for (int i = record.op.recvs; i < record.port_count(); ++i) {
            const Port& port = record.ports[i];
            lacks = lacks || number(port) - channel_.seen[port.end] > launch_.slots;
        }
        return lacks;
    }

    /// The first barrier keeps `seen` until all have asked lacks_credit; the second shows it to all.
    __device__ void await_credit(const Record& record) {
        __syncthreads();
        const int i = static_cast<int>(threadIdx.x);
        if (i >= record.op.recvs && i < record.port_count()) {
            const Port& port = record.ports[i];
            wait_for_counter(channel_, launch_, record.op, port, true, number(port));
            watch_.credit_ready();
        }
        __syncthreads();
    }

    __device__ void move(const Record& record) {
        if (channel_.alive == 0) return;
        const Op& op = record.op;
        const auto lines = static_cast<int>((op.size + 7) / 8);
#pragma unroll 1
        for (int line = static_cast<int>(threadIdx.x); line < lines; line += static_cast<int>(blockDim.x)) {
            const auto left = static_cast<int>(op.size) - 8 * line;
            if (!move_line(record, line, left < 8 ? left : 8)) return;
        }
    }

    /// The user's side is loaded before the wait for the peer's, so that both are on their way together.
    __device__ bool move_line(const Record& record, int line, int bytes) {
        const Op& op = record.op;
        const bool aligned = launch_.aligned != 0;
        const std::int64_t at = op.begin + std::int64_t{8} * line;
        Pack own{};
        if (op.local_at >= 0) {
            const std::byte* local = op.local_is_output ? launch_.output : launch_.input;
            own = load_user<T, Pack>(local + at, bytes, aligned);
        }
        Pack result{};
        if (!combine(record, line, own, result)) return false;
#pragma unroll 1
        for (int i = op.recvs; i < record.port_count(); ++i) put(record.ports[i], line, result);
        if (op.store) store_user<T>(launch_.output + at, result, bytes, aligned);
        return true;
    }

    /// Sources in the order of summation: received, and the own contribution at its place.
    __device__ bool combine(const Record& record, int line, const Pack& own, Pack& result) {
        const Op& op = record.op;
        const int sources = op.recvs + (op.local_at >= 0 ? 1 : 0);
        Wide<T, Pack> sum;
#pragma unroll 1
        for (int s = 0, received = 0; s < sources; ++s) {
            result = own;
            if (s != op.local_at && !take(record, received++, line, result)) return false;
            if (s == 0) {
                sum = Wide<T, Pack>::of(result);
            } else {
                sum.add(launch_.reduction, result);
            }
        }
        if (sources > 1 || op.divisor > 0) result = sum.finished(op.divisor);
        return true;
    }

    __device__ bool take(const Record& record, int i, int line, Pack& pack) {
        const Port& port = record.ports[i];
        const auto* from = reinterpret_cast<const uint4*>(slot_of(channel_, launch_, port, 0)) + line;
        const auto flag = static_cast<std::uint32_t>(number(port));
        uint4 v = load_slot(from);
        const auto there = [&] { return v.y == flag && v.w == flag; };
        if (!there()) {
            const auto look_again = [&] {
                v = load_slot(from);
                return there();
            };
            if (!wait_until(look_again, channel_, launch_, record.op, port, false)) return false;
        }
        watch_.data_ready(i, line);
        pack = make_uint2(v.x, v.z);
        return true;
    }

    __device__ void put(const Port& port, int line, const Pack& pack) {
        const auto flag = static_cast<std::uint32_t>(number(port));
        auto* to = reinterpret_cast<uint4*>(slot_of(channel_, launch_, port, 0)) + line;
        store_line(to, make_uint4(pack.x, flag, pack.y, flag));
        watch_.stored(port, sizeof(uint4));
    }

    __device__ void clean(const Record& record) {
        constexpr std::uint32_t half_range = 1u << 31;
#pragma unroll 1
        for (int i = record.op.recvs; i < record.port_count(); ++i) {
            const auto flag = static_cast<std::uint32_t>(number(record.ports[i]));
            if ((flag - 1) % half_range < half_range - launch_.slots) continue;
            auto* slot = reinterpret_cast<uint4*>(slot_of(channel_, launch_, record.ports[i], 0));
            const auto used = static_cast<int>((record.op.size + 7) / 8);
            const auto all = static_cast<int>(launch_.slot_bytes / 16);
#pragma unroll 1
            for (int line = used + static_cast<int>(threadIdx.x); line < all; line += static_cast<int>(blockDim.x))
                store_line(slot + line, make_uint4(0, flag, 0, flag));
        }
    }

    /// Without a fence: only loads come before, and their values have been used.
    __device__ void release(const Record& record) {
        const int i = static_cast<int>(threadIdx.x);
        if (i >= record.op.recvs || channel_.alive == 0) return;
        store_relaxed(channel_.end(record.ports[i].end).posts_to, number(record.ports[i]));
    }

    Channel& channel_;
    const Launch& launch_;
    Watch& watch_;
};

}  // namespace ringscope::engine::cuda
