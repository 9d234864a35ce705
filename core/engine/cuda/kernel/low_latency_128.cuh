// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/credits.cuh"
#include "engine/cuda/kernel/pack.cuh"

namespace ringscope::engine::cuda {

/// What is worked out of a window's records before they are played, side by side, for all of them.
struct LineWindow {
    struct Message {
        Words* slot;
        std::uint64_t flag;
    };

    Message messages[most_window_ports];  ///< as many per record as there is room for ports
    bool lacks_credit[most_records];
};

/// Protocol LL128: lines of 120 bytes of payload and a flag, of which eight lanes move one (line_128.hpp). It
/// rests on a line that one instruction of a warp stores arriving as one, which NVLink and a GPU's own memory
/// do and PCIe does not promise. Therefore a warp moves lines with all its lanes, polls them together, and
/// goes on or gives up together.
///
/// The flag is the number of the message, in 64 bits: it does not wrap, and nothing has to be cleaned.
template <class T, class Watch>
class LowLatency128 {
 public:
    __device__ LowLatency128(Channel& channel, LineWindow& window, const Launch& launch, Watch& watch)
        : channel_{channel},
          window_{window},
          launch_{launch},
          watch_{watch},
          credits_{channel, launch, watch} {}

    /// The first window.
    __device__ void prepare(bool know_credits) {
        prepare(window_records(channel_, launch_, 0), know_credits);
    }
    __device__ void prefetch() {}

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
    using Message = LineWindow::Message;
    /// Of lines that a lane has on their way: four loads of 16 bytes.
    static constexpr int pairs = 2;
    static constexpr int pairs_of_warp = warp_size / lanes_of_line;
    static constexpr int pair_payload = 2 * line_128_payload;
    static constexpr int turn_payload = pairs * pairs_of_warp * pair_payload;

    __device__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
    __device__ static int warp() { return static_cast<int>(threadIdx.x) / warp_size; }
    __device__ static LineLane line_lane() { return {lane() % lanes_of_line}; }

    __device__ void play_window(int records) {
#pragma unroll 1
        for (int i = 0; i < records; ++i) {
            const Message* messages = window_.messages + i * ports_of_record(launch_);
            play_op(Record::at(channel_, launch_, i), messages, window_.lacks_credit[i]);
        }
    }

    __device__ void prepare(int records, bool know_credits) {
        const int ports = ports_of_record(launch_);
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < records; i += static_cast<int>(blockDim.x)) {
            const Record record = Record::at(channel_, launch_, i);
            window_.lacks_credit[i] = know_credits && credits_.lack(record);
#pragma unroll 1
            for (int p = 0; p < record.port_count(); ++p) {
                const Port& port = record.ports[p];
                window_.messages[i * ports + p] = {
                    reinterpret_cast<Words*>(slot_of(channel_, launch_, port, 0)),
                    number_of(channel_, port, 0)};
            }
        }
    }

    /// An op of the window.
    struct Playing {
        const Record record;
        const Message* messages;  ///< of its ports
        Row* row;                 ///< of its trace
    };

    __device__ void play_op(const Record& record, const Message* messages, bool lacks_credit) {
        const auto lines = static_cast<int>((record.op.size + line_128_payload - 1) / line_128_payload);
        Row* row = watch_.begin(record.op, lines * line_128_bytes);
        if (lacks_credit) credits_.await(record, row);
        move({record, messages, row});
        credits_.give_back(record);
        watch_.end(row);
    }

    /// A turn is what the pairs of a warp's lanes hold. Whatever the op, a byte of a message belongs to the
    /// same lane, so that an op may read what an earlier one stored in the output.
    __device__ void move(const Playing& playing) {
        if (__any_sync(whole_warp, channel_.alive == 0)) return;
        const Op& op = playing.record.op;
        const bool plain =
            op.recvs <= 1 && op.divisor == 0 && launch_.aligned != 0 && op.size % sizeof(Words) == 0;
        const auto turns = static_cast<int>((op.size + turn_payload - 1) / turn_payload);
        const int warps = static_cast<int>(blockDim.x) / warp_size;
#pragma unroll 1
        for (int turn = warp(); turn < turns; turn += warps) {
            const Place place = place_of(op, turn);
            const bool done = plain ? move_plain(playing, place) : move_any(playing, place);
            if (!done) return;
        }
    }

    /// Where a lane's first pair of a turn is; its others follow at fixed distances.
    struct Place {
        int at;    ///< payload of the message before the pair
        int left;  ///< from there to the message's end
        int part;  ///< of the lane in the pair's first line, counted from the beginning of the slot
    };

    __device__ static Place place_of(const Op& op, int turn) {
        const int pair = turn * pairs * pairs_of_warp + lane() / lanes_of_line;
        const int at = pair * pair_payload;
        return {at, static_cast<int>(op.size) - at, 2 * pair * lanes_of_line + line_lane().place};
    }
    __device__ static Place moved(const Place& place, int p) {
        const int payload = p * pairs_of_warp * pair_payload;
        return {place.at + payload, place.left - payload, place.part + p * 2 * warp_size};
    }
    __device__ static bool has_line(const Place& place, int p, int row) {
        return p * pairs_of_warp * pair_payload + row * line_128_payload < place.left;
    }
    __device__ static int part_at(const Place& place, int p, int row) {
        return place.part + p * 2 * warp_size + row * lanes_of_line;
    }
    /// From the pair that the place is of.
    __device__ static int unit_at(int p, int row) {
        return p * pairs_of_warp * pair_payload + line_lane().unit_at(row);
    }
    /// Bytes of the message in a unit of this lane: 16, fewer at the message's end, none behind it.
    __device__ static int unit_bytes(const Place& place, int p, int row) {
        const int left = place.left - unit_at(p, row);
        if (left <= 0 || !line_lane().has_unit(row)) return 0;
        return left < static_cast<int>(sizeof(Words)) ? left : static_cast<int>(sizeof(Words));
    }

    __device__ const std::byte* local(const Op& op) const {
        return (op.local_is_output ? launch_.output : launch_.input) + op.begin;
    }
    __device__ std::byte* output(const Op& op) const {
        return launch_.output + op.begin;
    }

    // Ops of one receive or none, in whole units of aligned buffers

    __device__ bool move_plain(const Playing& playing, const Place& place) {
        const Record& record = playing.record;
        const Op& op = record.op;
        Words units[pairs][2];
        // The user's side is loaded before the wait for the peer's, so that both are on their way together.
        if (op.local_at >= 0) load_plain(local(op) + place.at, place, units);
        if (op.recvs == 1) {
            Words received[pairs][2];
            if (!take<pairs>(playing, 0, place, received)) return false;
            merge(received, op.local_at >= 0, units);
        }
#pragma unroll 1
        for (int i = op.recvs; i < record.port_count(); ++i) {
            put<pairs>(record.ports[i], playing.messages[i], place, units);
        }
        if (op.store) store_plain(output(op) + place.at, place, units);
        return true;
    }

    __device__ static void load_plain(const std::byte* from, const Place& place, Words (&units)[pairs][2]) {
#pragma unroll
        for (int p = 0; p < pairs; ++p) {
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                units[p][row] = {};
                if (unit_bytes(place, p, row) > 0)
                    units[p][row] = *reinterpret_cast<const Words*>(from + unit_at(p, row));
            }
        }
    }

    __device__ void merge(const Words (&received)[pairs][2], bool has_local, Words (&units)[pairs][2]) const {
        const auto each = [&](auto f) {
#pragma unroll
            for (int p = 0; p < pairs; ++p) {
#pragma unroll
                for (int row = 0; row < 2; ++row) f(received[p][row], units[p][row]);
            }
        };
        if (!has_local) return each([](const Words& from, Words& to) { to = from; });
        with_reduction<T>(launch_.reduction, 0, [&](auto operation, const auto& finish) {
            each([&](const Words& from, Words& to) {
                auto sum = Wide<T, Words>::of(from);
                sum.template combine<decltype(operation)>(Wide<T, Words>::of(to));
                to = sum.finished_by(finish);
            });
        });
    }

    __device__ static void store_plain(std::byte* to, const Place& place, const Words (&units)[pairs][2]) {
#pragma unroll
        for (int p = 0; p < pairs; ++p) {
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                if (unit_bytes(place, p, row) > 0)
                    *reinterpret_cast<Words*>(to + unit_at(p, row)) = units[p][row];
            }
        }
    }

    // Any op: more peers, an avg's end, buffers that are not aligned, a message that ends within a unit

    __device__ bool move_any(const Playing& playing, const Place& place) {
#pragma unroll 1
        for (int p = 0; p < pairs; ++p) {
            if (!move_pair(playing, moved(place, p))) return false;
        }
        return true;
    }

    __device__ bool move_pair(const Playing& playing, const Place& place) {
        const Record& record = playing.record;
        const Op& op = record.op;
        const bool aligned = launch_.aligned != 0;
        Words own[1][2]{}, result[1][2];
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            if (op.local_at < 0) continue;
            const std::byte* from = local(op) + place.at + unit_at(0, row);
            own[0][row] = load_user<T, Words>(from, unit_bytes(place, 0, row), aligned);
        }
        if (!combine(playing, place, own, result)) return false;
#pragma unroll 1
        for (int i = op.recvs; i < record.port_count(); ++i) {
            put<1>(record.ports[i], playing.messages[i], place, result);
        }
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            if (!op.store) continue;
            std::byte* to = output(op) + place.at + unit_at(0, row);
            store_user<T>(to, result[0][row], unit_bytes(place, 0, row), aligned);
        }
        return true;
    }

    /// Sources in the order of summation: received, and the own contribution at its place.
    __device__ bool combine(
        const Playing& playing, const Place& place, const Words (&own)[1][2], Words (&result)[1][2]
    ) {
        const Op& op = playing.record.op;
        const int sources = op.recvs + (op.local_at >= 0 ? 1 : 0);
        Wide<T, Words> sum[2];
#pragma unroll 1
        for (int s = 0, received = 0; s < sources; ++s) {
            result[0][0] = own[0][0];
            result[0][1] = own[0][1];
            if (s != op.local_at) {
                if (!take<1>(playing, received, place, result)) return false;
                ++received;
            }
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                if (s == 0) {
                    sum[row] = Wide<T, Words>::of(result[0][row]);
                } else {
                    sum[row].add(launch_.reduction, result[0][row]);
                }
            }
        }
        if (sources == 1 && op.divisor == 0) return true;
#pragma unroll
        for (int row = 0; row < 2; ++row) result[0][row] = sum[row].finished(op.divisor);
        return true;
    }

    // Lines: of n pairs of the lane, from a place on

    /// The lanes with the flags look, and all go on when all flags are there. What was loaded with them may
    /// still be older than they, for lanes load one after the other: so the data are loaded once more.
    template <int n>
    __device__ bool take(const Playing& playing, int i, const Place& place, Words (&units)[n][2]) {
        const Record& record = playing.record;
        const Message& message = playing.messages[i];
        Words parts[n][2];
        const auto arrived = [&] {
            load_parts<n>(message, place, parts);
            return !__any_sync(whole_warp, lacks_flag<n>(message, place, parts));
        };
        __syncwarp();
        if (!wait_as_warp(arrived, channel_, launch_, record.op, record.ports[i])) return false;
        watch_.data_ready(playing.row, i, place.part);
        __syncwarp();
        load_parts<n>(message, place, parts);
#pragma unroll
        for (int p = 0; p < n; ++p) {
#pragma unroll
            for (int row = 0; row < 2; ++row) units[p][row] = line_lane().from_lines(parts[p], row);
        }
        return true;
    }

    template <int n>
    __device__ static void load_parts(const Message& message, const Place& place, Words (&parts)[n][2]) {
#pragma unroll
        for (int p = 0; p < n; ++p) {
#pragma unroll
            for (int row = 0; row < 2; ++row)
                parts[p][row] = load_words(message.slot + part_at(place, p, row), has_line(place, p, row));
        }
    }

    template <int n>
    __device__ static bool lacks_flag(
        const Message& message, const Place& place, const Words (&parts)[n][2]
    ) {
        bool lacks = false;
#pragma unroll
        for (int p = 0; p < n; ++p) {
#pragma unroll
            for (int row = 0; row < 2; ++row)
                lacks = lacks || (has_line(place, p, row) && flag_in(parts[p][row]) != message.flag);
        }
        return lacks && line_lane().has_flag();
    }

    template <int n>
    __device__ void put(
        const Port& port, const Message& message, const Place& place, const Words (&units)[n][2]
    ) {
#pragma unroll
        for (int p = 0; p < n; ++p) {
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                const bool there = has_line(place, p, row);
                const Words part = line_lane().to_line(units[p], row, message.flag);
                __syncwarp();
                store_words(message.slot + part_at(place, p, row), part, there);
                watch_.stored(port, there ? static_cast<int>(sizeof(Words)) : 0);
            }
        }
    }

    Channel& channel_;
    LineWindow& window_;
    const Launch& launch_;
    Watch& watch_;
    Credits<Watch> credits_;
};

}  // namespace ringscope::engine::cuda
