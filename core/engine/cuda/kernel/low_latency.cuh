// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/credits.cuh"
#include "engine/cuda/kernel/pack.cuh"

namespace ringscope::engine::cuda {

/// What of an op is worked out before it is played. A warp alone has nothing to hide such computation behind,
/// so it is done for all records of a window side by side. For a plain op, of at most one receive and one
/// send, aligned and in whole lines, these are all its addresses and flags.
struct alignas(16) PlainOp {
    const uint4* from;
    uint4* to;
    const uint2* local;
    uint2* output;
    std::uint32_t received_flag, sent_flag;
    std::int32_t lines;
    std::uint32_t traits;  ///< of OpTrait
};

enum OpTrait : std::uint32_t {
    plain = 1,
    receives = 2,
    sends = 4,
    adds_local = 8,
    stores = 16,
    lacks_credit = 32,  ///< by the counters as they were seen when it was worked out
    is_near_wrap = 64
};

/// Protocol LL: a line of 16 bytes is {data, flag, data, flag}, stored and loaded whole. Each half of 8 bytes
/// arrives as one, so data and flag arrive together: no fence, no counter for data, one trip per hop.
///
/// The flag is the low half of the message's number. Old flags of a slot that later messages filled less
/// could match once the numbers wrap; therefore in the last `slots` messages of every half of the range the
/// sender fills the whole slot with the current flag.
template <class T, class Watch>
class LowLatency {
 public:
    __device__ LowLatency(Channel& channel, PlainOp* plain_ops, const Launch& launch, Watch& watch)
        : channel_{channel},
          plain_ops_{plain_ops},
          launch_{launch},
          watch_{watch},
          credits_{channel, launch, watch} {}

    /// The first window.
    __device__ void prepare(bool know_credits) {
        prepare(window_records(channel_, launch_, 0), know_credits);
    }

    /// The user's part of the first op, so that it is on its way while the states are looked at.
    __device__ void prefetch() {
        const Op& op = Record::at(channel_, launch_, 0).op;
        const std::int64_t at = std::int64_t{8} * threadIdx.x;
        const bool has = channel_.head().records > 0 && op.local_at >= 0 && launch_.aligned != 0;
        if (has && at + 8 <= op.size) prefetch_user(reinterpret_cast<const Pack*>(own(op) + at));
    }

    __device__ void play() {
        credits_.open();
        for_each_window(
            channel_, launch_, static_cast<int>(blockDim.x), [] { __syncthreads(); },
            [&](int records) {
                prepare(records, true);
                __syncthreads();
            },
            [&](int records) { play_window(records); }
        );
    }

 private:
    using Pack = uint2;

    __device__ void play_window(int records) {
#pragma unroll 1
        for (int i = 0; i < records; ++i) play_op(Record::at(channel_, launch_, i), plain_ops_[i]);
    }

    /// The own contribution to an op, or what an earlier one left of it in the output.
    __device__ const std::byte* own(const Op& op) const {
        return (op.local_is_output ? launch_.output : launch_.input) + op.begin;
    }

    __device__ void prepare(int records, bool know_credits) {
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < records; i += static_cast<int>(blockDim.x)) {
            const Record record = Record::at(channel_, launch_, i);
            PlainOp op = work_out(record);
            if (know_credits && credits_.lack(record)) op.traits |= lacks_credit;
            plain_ops_[i] = op;
        }
    }

    __device__ PlainOp work_out(const Record& record) const {
        const Op& op = record.op;
        PlainOp out{};
        out.traits = must_clean(record) ? is_near_wrap : 0;
        out.lines = static_cast<std::int32_t>((op.size + 7) / 8);
        if (op.recvs > 1 || op.sends > 1 || op.size % 8 != 0 || op.divisor > 0 || launch_.aligned == 0)
            return out;
        out.traits |= plain | (op.store ? stores : 0) | (op.local_at >= 0 ? adds_local : 0);
        out.local = reinterpret_cast<const Pack*>(own(op));
        out.output = reinterpret_cast<Pack*>(launch_.output + op.begin);
        if (op.recvs == 1) {
            const Port& port = record.ports[0];
            out.from = reinterpret_cast<const uint4*>(slot_of(channel_, launch_, port, 0));
            out.received_flag = static_cast<std::uint32_t>(number(port));
            out.traits |= receives;
        }
        if (op.sends == 1) {
            const Port& port = record.ports[op.recvs];
            out.to = reinterpret_cast<uint4*>(slot_of(channel_, launch_, port, 0));
            out.sent_flag = static_cast<std::uint32_t>(number(port));
            out.traits |= sends;
        }
        return out;
    }

    __device__ void play_op(const Record& record, const PlainOp& plain_op) {
        Row* row = watch_.begin(record.op, plain_op.lines * static_cast<int>(sizeof(uint4)));
        if (plain_op.traits & lacks_credit) credits_.await(record, row);
        if (plain_op.traits & plain) {
            move_plain(record, plain_op, row);
        } else {
            move(record, plain_op.lines, row);
        }
        if (plain_op.traits & is_near_wrap) clean(record);
        credits_.give_back(record);
        watch_.end(row);
    }

    __device__ void move_plain(const Record& record, const PlainOp& op, Row* row) {
        const std::uint32_t traits = op.traits;
        const int lines = op.lines;
#pragma unroll 1
        for (int line = static_cast<int>(threadIdx.x); line < lines; line += static_cast<int>(blockDim.x)) {
            Pack pack{};
            if (traits & adds_local) pack = op.local[line];
            if (traits & receives) {
                uint4 v = load_slot(op.from + line);
                if (!has_flag(v, op.received_flag) && !await_line(record, op, line, v)) return;
                watch_.data_ready(row, 0, line);
                const Pack received = make_uint2(v.x, v.z);
                pack = traits & adds_local ? added(received, pack) : received;
            }
            if (traits & sends) {
                store_line(op.to + line, make_uint4(pack.x, op.sent_flag, pack.y, op.sent_flag));
                watch_.stored(record.ports[record.op.recvs], sizeof(uint4));
            }
            if (traits & stores) op.output[line] = pack;
        }
    }

    __device__ static bool has_flag(const uint4& v, std::uint32_t flag) {
        return v.y == flag && v.w == flag;
    }

    __device__ bool await_line(const Record& record, const PlainOp& op, int line, uint4& v) {
        return wait_until(
            [&] {
                v = load_slot(op.from + line);
                return has_flag(v, op.received_flag);
            },
            channel_, launch_, record.op, record.ports[0], false
        );
    }

    __device__ Pack added(const Pack& received, const Pack& own) const {
        auto sum = Wide<T, Pack>::of(received);
        sum.add(launch_.reduction, own);
        return sum.finished_by(reduce::NoFinish<T>{});
    }

    __device__ std::uint64_t number(const Port& port) const {
        return number_of(channel_, port, 0);
    }

    /// Any op: more peers, lines in part, buffers that are not aligned.
    __device__ __noinline__ void move(const Record& record, int lines, Row* row) {
        if (channel_.alive == 0) return;
        const Op& op = record.op;
#pragma unroll 1
        for (int line = static_cast<int>(threadIdx.x); line < lines; line += static_cast<int>(blockDim.x)) {
            const auto left = static_cast<int>(op.size) - 8 * line;
            if (!move_line(record, line, left < 8 ? left : 8, row)) return;
        }
    }

    /// The user's side is loaded before the wait for the peer's, so that both are on their way together.
    __device__ bool move_line(const Record& record, int line, int bytes, Row* row) {
        const Op& op = record.op;
        const bool aligned = launch_.aligned != 0;
        const std::int64_t at = std::int64_t{8} * line;
        Pack local{};
        if (op.local_at >= 0) local = load_user<T, Pack>(own(op) + at, bytes, aligned);
        Pack result{};
        if (!combine(record, line, local, result, row)) return false;
#pragma unroll 1
        for (int i = op.recvs; i < record.port_count(); ++i) put(record.ports[i], line, result);
        if (op.store) store_user<T>(launch_.output + op.begin + at, result, bytes, aligned);
        return true;
    }

    /// Sources in the order of summation: received, and the own contribution at its place.
    __device__ bool combine(const Record& record, int line, const Pack& local, Pack& result, Row* row) {
        const Op& op = record.op;
        const int sources = op.recvs + (op.local_at >= 0 ? 1 : 0);
        Wide<T, Pack> sum;
#pragma unroll 1
        for (int s = 0, received = 0; s < sources; ++s) {
            result = local;
            if (s != op.local_at && !take(record, received++, line, result, row)) return false;
            if (s == 0) {
                sum = Wide<T, Pack>::of(result);
            } else {
                sum.add(launch_.reduction, result);
            }
        }
        if (sources > 1 || op.divisor > 0) result = sum.finished(op.divisor);
        return true;
    }

    __device__ bool take(const Record& record, int i, int line, Pack& pack, Row* row) {
        const Port& port = record.ports[i];
        const auto* from = reinterpret_cast<const uint4*>(slot_of(channel_, launch_, port, 0)) + line;
        const auto flag = static_cast<std::uint32_t>(number(port));
        uint4 v = load_slot(from);
        if (!has_flag(v, flag)) {
            const auto look_again = [&] {
                v = load_slot(from);
                return has_flag(v, flag);
            };
            if (!wait_until(look_again, channel_, launch_, record.op, port, false)) return false;
        }
        watch_.data_ready(row, i, line);
        pack = make_uint2(v.x, v.z);
        return true;
    }

    __device__ void put(const Port& port, int line, const Pack& pack) {
        const auto flag = static_cast<std::uint32_t>(number(port));
        auto* to = reinterpret_cast<uint4*>(slot_of(channel_, launch_, port, 0)) + line;
        store_line(to, make_uint4(pack.x, flag, pack.y, flag));
        watch_.stored(port, sizeof(uint4));
    }

    __device__ bool must_clean(const Record& record) const {
        bool near = false;
#pragma unroll 1
        for (int i = record.op.recvs; i < record.port_count(); ++i) {
            near = near || wraps_soon(static_cast<std::uint32_t>(number(record.ports[i])));
        }
        return near;
    }
    __device__ bool wraps_soon(std::uint32_t flag) const {
        constexpr std::uint32_t half_range = 1u << 31;
        return (flag - 1) % half_range >= half_range - launch_.slots;
    }

    __device__ __noinline__ void clean(const Record& record) {
#pragma unroll 1
        for (int i = record.op.recvs; i < record.port_count(); ++i) {
            const auto flag = static_cast<std::uint32_t>(number(record.ports[i]));
            if (!wraps_soon(flag)) continue;
            auto* slot = reinterpret_cast<uint4*>(slot_of(channel_, launch_, record.ports[i], 0));
            const auto used = static_cast<int>((record.op.size + 7) / 8);
            const auto all = static_cast<int>(launch_.slot_bytes / 16);
#pragma unroll 1
            for (int line = used + static_cast<int>(threadIdx.x); line < all;
                 line += static_cast<int>(blockDim.x))
                store_line(slot + line, make_uint4(0, flag, 0, flag));
        }
    }

    Channel& channel_;
    PlainOp* plain_ops_;
    const Launch& launch_;
    Watch& watch_;
    Credits<Watch> credits_;
};

}  // namespace ringscope::engine::cuda
