// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/pack.cuh"
#include "engine/cuda/kernel/wait.cuh"

namespace ringscope::engine::cuda {

inline constexpr int posts_in_flight = 4;  ///< parts that wait for their fence while the next is copied

/// A part's counters to post, one lane each.
struct Posts {
    std::uint64_t* counter[warp_size];  ///< null: this lane has none
    std::uint64_t value[warp_size];
    int sends;  ///< how many of them announce data, which takes a fence
};

/// What the copying warps hand to the posting warp: while they go on to the next parts, it posts these.
struct Handover {
    Posts posts[posts_in_flight];
    volatile unsigned int posted;      ///< parts that are posted
    std::byte* memory[2][most_ports];  ///< where the part of each message lies
};

/// Protocol Simple: whole slices behind counters. The copying warps move a part and go on to the next; a warp
/// of its own issues the fence and posts the counters, so that neither is in their way.
template <class T, class Watch>
class Simple {
 public:
    __device__ Simple(Channel& channel, Handover& handover, const Launch& launch, Watch& watch)
        : channel_{channel}, handover_{handover}, launch_{launch}, watch_{watch} {}

    __device__ void prepare(bool) {
        if (threadIdx.x != 0) return;
        handover_.posted = 0;
    }
    __device__ void prefetch() {}

    __device__ void play() {
        if (thread() < workers()) {
            copy();
        } else {
            post();
        }
    }

 private:
    using Pack = uint4;
    static constexpr int unroll = 8;  ///< packs of a thread that are moved at a time
    /// The same where sums are kept apart. With 4, or the next source's loads begun, registers spill.
    static constexpr int sums = 2;

    __device__ static int thread() { return static_cast<int>(threadIdx.x); }
    __device__ static int lane() { return thread() % warp_size; }
    __device__ static int workers() { return static_cast<int>(blockDim.x) - warp_size; }
    __device__ static void barrier() { asm volatile("barrier.sync 1, %0;" ::"r"(workers()) : "memory"); }

    // A part is copied when all copying warps have come to the barrier of its place, which the posting warp
    // waits at; none comes to it twice, for a place is free only when its part is posted.
    __device__ static int barrier_of(unsigned int place) { return 2 + static_cast<int>(place); }
    __device__ static void announce_copied(unsigned int place) {
        asm volatile("barrier.arrive %0, %1;" ::"r"(barrier_of(place)), "r"(static_cast<int>(blockDim.x))
                     : "memory");
    }
    __device__ static void await_copied(unsigned int place) {
        asm volatile("barrier.sync %0, %1;" ::"r"(barrier_of(place)), "r"(static_cast<int>(blockDim.x))
                     : "memory");
    }

    // The copying warps

    __device__ void copy() {
        unsigned int part_number = 0;
        for_each_window(
            channel_, launch_, workers(), [] { barrier(); }, [](int) {},
            [&](int records) {
#pragma unroll 1
                for (int i = 0; i < records; ++i) {
                    const Record record = Record::at(channel_, launch_, i);
#pragma unroll 1
                    for (int part = 0; part < record.op.parts; ++part) copy_part(record, part, part_number++);
                }
            }
        );
    }

    __device__ void copy_part(const Record& record, int part, unsigned int part_number) {
        const int parity = static_cast<int>(part_number % 2);
        const unsigned int place = part_number % posts_in_flight;
        if (thread() < warp_size) {
            await_place(part_number);
            prepare_ports(record, part, parity, place);
        }
        barrier();
        if (channel_.alive != 0 && record.op.moves != 0)
            move(record, part_of(record.op, part), handover_.memory[parity]);
        announce_copied(place);
    }

    struct Range {
        std::int64_t begin, size;
    };

    /// As schedule::cut does: balanced in units of 16 bytes, the tail in the last part.
    __device__ static Range part_of(const Op& op, int part) {
        if (op.parts == 1) return {op.begin, op.size};
        const std::int64_t units = op.size / 16, each = units / op.parts, odd = units % op.parts;
        const std::int64_t begin = part * each + (part < odd ? part : odd);
        const std::int64_t tail = part == op.parts - 1 ? op.size % 16 : 0;
        return {op.begin + begin * 16, (each + (part < odd ? 1 : 0)) * 16 + tail};
    }

    /// Waits until the posting warp is done with the place, which it is but for a fence that takes very long.
    /// Also when a wait gave up: the posting warp waits for nobody else, and is lost where a warp comes twice
    /// to the barrier of a place.
    __device__ void await_place(unsigned int part_number) {
        while (part_number - handover_.posted >= posts_in_flight) {
        }
    }

    /// One lane of the first warp per message: waits, says where the part lies, and what is to be posted when
    /// it has been copied.
    __device__ void prepare_ports(const Record& record, int part, int parity, unsigned int place) {
        Posts& posts = handover_.posts[place];
        posts.counter[lane()] = nullptr;
        if (lane() == 0) posts.sends = record.op.sends;
        watch_.part_begin(part, place);
        if (lane() < record.port_count()) {
            const Port& port = record.ports[lane()];
            const std::uint64_t number = number_of(channel_, port, part);
            const Range range = part_of(record.op, part);
            posts.counter[lane()] = channel_.end(port.end).posts_to;
            posts.value[lane()] = number;
            handover_.memory[parity][lane()] = memory_of(port, lane() >= record.op.recvs, range, part);
            wait_for_counter(channel_, launch_, record.op, port, lane() >= record.op.recvs, number);
            watch_.part_ready(record.op, part, range.size, place);
        }
        __syncwarp();
    }

    /// Where a part of a message lies. What lies in this rank's own input nobody asks for: others read it.
    __device__ std::byte* memory_of(const Port& port, bool sends, Range range, int part) const {
        if (port.place == schedule::Place::slot) return slot_of(channel_, launch_, port, part);
        const std::int64_t distance = channel_.end(port.end).distance;
        if (port.place == schedule::Place::input)
            return const_cast<std::byte*>(launch_.input) + distance + range.begin;
        return launch_.output + (sends ? distance : 0) + range.begin;
    }

    // Moving a part

    __device__ void move(const Record& record, Range range, std::byte* const* memory) {
        const int done = launch_.aligned != 0 ? move_packs(record, range, memory) : 0;
#pragma unroll 1
        for (int i = done + thread(); std::int64_t{i} * 16 < range.size; i += workers()) {
            move_pack(record, range, memory, i);
        }
    }

    /// Moves all whole packs; returns how many there are.
    __device__ int move_packs(const Record& record, Range range, std::byte* const* memory) {
        const int sources = sources_of(record.op);
        if (sources == 1 && record.op.divisor == 0) return copy_packs(record, range, memory);
        if (sources == 2 && record.op.recvs == 1) return reduce_packs(record, range, memory);
        return reduce_many(record, range, memory);
    }

    __device__ static int sources_of(const Op& op) {
        return op.recvs + (op.local_at >= 0 ? 1 : 0);
    }
    /// The port of a source that is not the own contribution.
    __device__ static int port_of(const Op& op, int source) {
        return op.local_at >= 0 && source > op.local_at ? source - 1 : source;
    }
    __device__ const std::byte* local(const Op& op) const {
        return op.local_is_output ? launch_.output : launch_.input;
    }

    /// What of a part a thread moves at a time: every workers()-th pack, some of them, fewer at the end.
    struct Round {
        int first, packs;
        __device__ bool has(int u) const { return first + u * workers() < packs; }
        __device__ int at(int u) const { return first + u * workers(); }
    };

    /// Calls play(round), of so many packs each, for all whole packs of a part; returns how many there are.
    template <int at_a_time, class Play>
    __device__ static int for_each_round(Range range, Play play) {
        const int packs = static_cast<int>(range.size / static_cast<int>(sizeof(Pack)));
#pragma unroll 1
        for (int i = thread(); i < packs; i += at_a_time * workers()) play(Round{i, packs});
        return packs;
    }

    template <int n>
    __device__ void load_source(
        const Record& record, Range range, std::byte* const* memory, int source, const Round& round,
        Pack (&v)[n]
    ) {
        if (source == record.op.local_at) {
            load_own(local(record.op) + range.begin, round, v);
        } else {
            load_message(record, memory, port_of(record.op, source), round, v);
        }
    }
    template <int n>
    __device__ void load_message(
        const Record& record, std::byte* const* memory, int port, const Round& round, Pack (&v)[n]
    ) {
        const auto* from = reinterpret_cast<const Pack*>(memory[port]);
#pragma unroll
        for (int u = 0; u < n; ++u) {
            if (round.has(u)) v[u] = load_slot(from + round.at(u));
        }
        for (int u = 0; u < n; ++u) watch_.loaded(record.ports[port], round.has(u) ? 16 : 0);
    }
    template <int n>
    __device__ static void load_own(const std::byte* from, const Round& round, Pack (&v)[n]) {
#pragma unroll
        for (int u = 0; u < n; ++u) {
            if (round.has(u)) v[u] = reinterpret_cast<const Pack*>(from)[round.at(u)];
        }
    }

    __device__ int copy_packs(const Record& record, Range range, std::byte* const* memory) {
        const std::byte* own = local(record.op) + range.begin;
        return for_each_round<unroll>(range, [&](const Round& round) {
            Pack v[unroll];
            if (record.op.recvs == 1) {
                load_message(record, memory, 0, round, v);
            } else {
                load_own(own, round, v);
            }
            store_packs(record, range, memory, round, v);
        });
    }

    /// One message and the own contribution: the loads of both are under way at the same time.
    __device__ int reduce_packs(const Record& record, Range range, std::byte* const* memory) {
        const std::byte* own = local(record.op) + range.begin;
        return for_each_round<unroll>(range, [&](const Round& round) {
            Pack v[unroll], w[unroll];
            load_message(record, memory, 0, round, v);
            load_own(own, round, w);
            with_reduction<T>(launch_.reduction, record.op.divisor, [&](auto operation, const auto& finish) {
#pragma unroll
                for (int u = 0; u < unroll; ++u) {
                    auto sum = Wide<T, Pack>::of(v[u]);
                    sum.template combine<decltype(operation)>(Wide<T, Pack>::of(w[u]));
                    v[u] = sum.finished_by(finish);
                }
            });
            store_packs(record, range, memory, round, v);
        });
    }

    /// Any number of sources, one after the other into the sums of some packs.
    __device__ int reduce_many(const Record& record, Range range, std::byte* const* memory) {
        return for_each_round<sums>(range, [&](const Round& round) {
            Pack v[sums];
            Wide<T, Pack> sum[sums];
            load_source(record, range, memory, 0, round, v);
#pragma unroll
            for (int u = 0; u < sums; ++u) sum[u] = Wide<T, Pack>::of(v[u]);
#pragma unroll 1
            for (int source = 1; source < sources_of(record.op); ++source) {
                load_source(record, range, memory, source, round, v);
                with_operation(launch_.reduction, [&](auto operation) {
#pragma unroll
                    for (int u = 0; u < sums; ++u)
                        sum[u].template combine<decltype(operation)>(Wide<T, Pack>::of(v[u]));
                });
            }
#pragma unroll
            for (int u = 0; u < sums; ++u) v[u] = sum[u].finished(record.op.divisor);
            store_packs(record, range, memory, round, v);
        });
    }

    template <int n>
    __device__ static void store(std::byte* to, const Round& round, const Pack (&v)[n]) {
#pragma unroll
        for (int u = 0; u < n; ++u) {
            if (round.has(u)) reinterpret_cast<Pack*>(to)[round.at(u)] = v[u];
        }
    }

    template <int n>
    __device__ void store_packs(
        const Record& record, Range range, std::byte* const* memory, const Round& round, const Pack (&v)[n]
    ) {
#pragma unroll 1
        for (int port = record.op.recvs; port < record.port_count(); ++port) {
            store(memory[port], round, v);
            for (int u = 0; u < n; ++u) watch_.stored(record.ports[port], round.has(u) ? 16 : 0);
        }
        if (record.op.store) store(launch_.output + range.begin, round, v);
    }

    /// Any op, one pack: unaligned buffers, and the rest of a part, down to its last bytes.
    __device__ void move_pack(const Record& record, Range range, std::byte* const* memory, int i) {
        const Op& op = record.op;
        const std::int64_t left = range.size - std::int64_t{16} * i;
        const int bytes = left < 16 ? static_cast<int>(left) : 16;
        const bool aligned = launch_.aligned != 0;
        const auto source = [&](int s) {
            if (s == op.local_at)
                return load_user<T, Pack>(local(op) + range.begin + std::int64_t{16} * i, bytes, aligned);
            // Of a message in a buffer this may be more than there is: not outside of its 16 bytes.
            const int port = port_of(op, s);
            watch_.loaded(record.ports[port], bytes);
            return load_slot(reinterpret_cast<const Pack*>(memory[port]) + i);
        };
        const int sources = sources_of(op);
        Pack result = source(0);
        if (sources > 1 || op.divisor > 0) {
            auto sum = Wide<T, Pack>::of(result);
#pragma unroll 1
            for (int s = 1; s < sources; ++s) sum.add(launch_.reduction, source(s));
            result = sum.finished(op.divisor);
        }
#pragma unroll 1
        for (int port = op.recvs; port < record.port_count(); ++port) {
            store_user<T>(memory[port] + std::int64_t{16} * i, result, bytes, true);
            watch_.stored(record.ports[port], bytes);
        }
        if (op.store)
            store_user<T>(launch_.output + range.begin + std::int64_t{16} * i, result, bytes, aligned);
    }

    // The posting warp

    __device__ void post() {
        const auto parts = static_cast<unsigned int>(channel_.head().parts);
#pragma unroll 1
        for (unsigned int part = 0; part < parts; ++part) {
            const unsigned int place = part % posts_in_flight;
            await_copied(place);
            const Posts& posts = handover_.posts[place];
            // What the copying warps stored is made visible before the counter that says so. A credit needs
            // none: only loads come before it, and their values have been used.
            if (posts.sends > 0) fence_system();
            watch_.posting(place);
            std::uint64_t* counter = posts.counter[lane()];
            if (counter != nullptr && channel_.alive != 0) store_relaxed(counter, posts.value[lane()]);
            watch_.posted(place);
            __syncwarp();
            if (lane() == 0) handover_.posted = part + 1;
        }
    }

    Channel& channel_;
    Handover& handover_;
    const Launch& launch_;
    Watch& watch_;
};

}  // namespace ringscope::engine::cuda
