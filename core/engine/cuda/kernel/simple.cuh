// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cuda/kernel/pack.cuh"
#include "engine/cuda/kernel/wait.cuh"

namespace ringscope::engine::cuda {

inline constexpr int posts_in_flight = 4;  ///< parts that wait for their fence while the next is copied

/// A part's counters to post, one lane each: what the copying warps hand to the posting warp.
struct Posts {
    std::uint64_t* counter[warp_size];  ///< null: this lane has none
    std::uint64_t value[warp_size];
    int sends;  ///< whether any of them announces data, which takes a fence
};

struct Handover {
    Posts posts[posts_in_flight];
    unsigned int copied;           ///< warps that are done, over all parts
    volatile unsigned int posted;  ///< parts that are posted
    volatile int parts;            ///< of the whole program, once it is known; until then -1
    std::byte* slots[2][most_ports];
};

/// Protocol Simple: whole slices behind counters. The copying warps move a part and go on to the next; a warp
/// of its own issues the fence and posts the counters, so that neither is in their way.
template <class T, class Watch>
class Simple {
 public:
    __device__ Simple(Channel& channel, Handover& handover, const Launch& launch, Watch& watch)
        : channel_{channel}, handover_{handover}, launch_{launch}, watch_{watch} {}

    /// Before the block's first barrier.
    __device__ static void open(Handover& handover) {
        if (threadIdx.x != 0) return;
        handover.copied = 0;
        handover.posted = 0;
        handover.parts = -1;
    }

    __device__ void play() {
        if (thread() < workers()) {
            copy();
        } else {
            post();
        }
    }

 private:
    using Pack = uint4;
    static constexpr int unroll = 8;

    __device__ static int thread() { return static_cast<int>(threadIdx.x); }
    __device__ static int lane() { return thread() % warp_size; }
    __device__ static int workers() { return static_cast<int>(blockDim.x) - warp_size; }
    __device__ static void barrier() { asm volatile("barrier.sync 1, %0;" ::"r"(workers()) : "memory"); }

    // The copying warps

    __device__ void copy() {
        unsigned int part_number = 0;
        for_each_window(
            channel_, launch_, workers(), [] { barrier(); },
            [&](int records) {
#pragma unroll 1
                for (int i = 0; i < records; ++i) {
                    const Record record = Record::at(channel_, launch_, i);
#pragma unroll 1
                    for (int part = 0; part < record.op.parts; ++part) copy_part(record, part, part_number++);
                }
            }
        );
        if (thread() == 0) handover_.parts = static_cast<int>(part_number);
    }

    __device__ void copy_part(const Record& record, int part, unsigned int part_number) {
        const int parity = static_cast<int>(part_number % 2);
        if (thread() < warp_size) {
            if (part == 0) watch_.begin_parts();
            prepare_ports(record, part, parity);
        }
        barrier();
        const Range range = part_of(record.op, part);
        if (channel_.alive != 0) move(record, range, handover_.slots[parity]);
        if (thread() < warp_size) hand_over(record, part, part_number, range.size);
        __syncwarp();
        // Release: the posting warp sees what this one stored.
        if (lane() == 0) {
            __threadfence_block();
            atomicAdd_block(&handover_.copied, 1u);
        }
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

    /// One lane of the first warp per message: waits, and says where the part lies.
    __device__ void prepare_ports(const Record& record, int part, int parity) {
        if (lane() < record.port_count()) {
            const Port& port = record.ports[lane()];
            const bool for_credit = lane() >= record.op.recvs;
            watch_.part_begin();
            wait_for_counter(channel_, launch_, record.op, port, for_credit, number_of(channel_, port, part));
            watch_.part_ready(part);
            handover_.slots[parity][lane()] = slot_of(channel_, launch_, port, part);
        }
        __syncwarp();
    }

    /// Waits until the posting warp is done with the place, which it is but for a fence that takes very long.
    __device__ void hand_over(const Record& record, int part, unsigned int part_number, std::int64_t bytes) {
        while (part_number - handover_.posted >= posts_in_flight && channel_.alive != 0) {
        }
        Posts& posts = handover_.posts[part_number % posts_in_flight];
        const bool used = lane() < record.port_count();
        posts.counter[lane()] = used ? channel_.end(record.ports[lane()].end).posts_to : nullptr;
        posts.value[lane()] = used ? number_of(channel_, record.ports[lane()], part) : 0;
        if (lane() == 0) posts.sends = record.op.sends;
        watch_.hand_over(record, part, part_number % posts_in_flight, bytes);
    }

    // Moving a part

    __device__ void move(const Record& record, Range range, std::byte* const* slots) {
        const Op& op = record.op;
        const int sources = op.recvs + (op.local_at >= 0 ? 1 : 0);
        const bool plain = launch_.aligned != 0 && (op.divisor == 0 || sources == 2);
        std::int64_t done = 0;
        if (plain && sources == 1) done = copy_packs(record, range, slots);
        if (plain && sources == 2 && op.recvs == 1) done = reduce_packs(record, range, slots);
#pragma unroll 1
        for (std::int64_t i = done + thread(); i * 16 < range.size; i += workers()) {
            move_pack(record, range, slots, i);
        }
    }

    __device__ const std::byte* local(const Op& op) const {
        return op.local_is_output ? launch_.output : launch_.input;
    }

    /// Packs that whole rounds of all threads cover.
    __device__ static std::int64_t whole_rounds(Range range) {
        const std::int64_t round = std::int64_t{unroll} * workers();
        return range.size / 16 / round * round;
    }

    __device__ std::int64_t copy_packs(const Record& record, Range range, std::byte* const* slots) {
        const bool received = record.op.recvs == 1;
        const auto* from =
            reinterpret_cast<const Pack*>(received ? slots[0] : local(record.op) + range.begin);
        const std::int64_t packs = whole_rounds(range), stride = workers();
#pragma unroll 1
        for (std::int64_t i = thread(); i < packs; i += unroll * stride) {
            Pack v[unroll];
            if (received) {
#pragma unroll
                for (int u = 0; u < unroll; ++u) v[u] = load_slot(from + i + u * stride);
            } else {
#pragma unroll
                for (int u = 0; u < unroll; ++u) v[u] = from[i + u * stride];
            }
            store_packs(record, range, slots, i, v);
        }
        return packs;
    }

    __device__ std::int64_t reduce_packs(const Record& record, Range range, std::byte* const* slots) {
        const auto* received = reinterpret_cast<const Pack*>(slots[0]);
        const auto* own = reinterpret_cast<const Pack*>(local(record.op) + range.begin);
        const std::int64_t packs = whole_rounds(range), stride = workers();
#pragma unroll 1
        for (std::int64_t i = thread(); i < packs; i += unroll * stride) {
            Pack v[unroll], w[unroll];
#pragma unroll
            for (int u = 0; u < unroll; ++u) v[u] = load_slot(received + i + u * stride);
#pragma unroll
            for (int u = 0; u < unroll; ++u) w[u] = own[i + u * stride];
            with_reduction<T>(launch_.reduction, record.op.divisor, [&](auto operation, const auto& finish) {
#pragma unroll
                for (int u = 0; u < unroll; ++u) {
                    auto sum = Wide<T, Pack>::of(v[u]);
                    sum.template combine<decltype(operation)>(Wide<T, Pack>::of(w[u]));
                    v[u] = sum.finished_by(finish);
                }
            });
            store_packs(record, range, slots, i, v);
        }
        return packs;
    }

    __device__ void store_packs(
        const Record& record, Range range, std::byte* const* slots, std::int64_t i, const Pack (&v)[unroll]
    ) {
        const std::int64_t stride = workers();
#pragma unroll 1
        for (int port = record.op.recvs; port < record.port_count(); ++port) {
            auto* to = reinterpret_cast<Pack*>(slots[port]);
#pragma unroll
            for (int u = 0; u < unroll; ++u) to[i + u * stride] = v[u];
            watch_.stored(record.ports[port], unroll * sizeof(Pack));
        }
        if (!record.op.store) return;
        auto* out = reinterpret_cast<Pack*>(launch_.output + range.begin);
#pragma unroll
        for (int u = 0; u < unroll; ++u) out[i + u * stride] = v[u];
    }

    /// Any op, one pack: more sources, unaligned buffers, and the rest of a part, down to its last bytes.
    __device__ void move_pack(const Record& record, Range range, std::byte* const* slots, std::int64_t i) {
        const Op& op = record.op;
        const std::int64_t left = range.size - 16 * i;
        const int bytes = left < 16 ? static_cast<int>(left) : 16;
        const bool aligned = launch_.aligned != 0;
        const auto source = [&](int s) {
            if (s == op.local_at) return load_user<T, Pack>(local(op) + range.begin + 16 * i, bytes, aligned);
            const int port = op.local_at >= 0 && s > op.local_at ? s - 1 : s;
            return load_slot(reinterpret_cast<const Pack*>(slots[port]) + i);
        };
        const int sources = op.recvs + (op.local_at >= 0 ? 1 : 0);
        Pack result = source(0);
        if (sources > 1 || op.divisor > 0) {
            auto sum = Wide<T, Pack>::of(result);
#pragma unroll 1
            for (int s = 1; s < sources; ++s) sum.add(launch_.reduction, source(s));
            result = sum.finished(op.divisor);
        }
#pragma unroll 1
        for (int port = op.recvs; port < record.port_count(); ++port) {
            store_user<T>(slots[port] + 16 * i, result, bytes, true);
            watch_.stored(record.ports[port], bytes);
        }
        if (op.store) store_user<T>(launch_.output + range.begin + 16 * i, result, bytes, aligned);
    }

    // The posting warp

    __device__ void post() {
#pragma unroll 1
        for (unsigned int part = 0; await_copied(part); ++part) {
            const Posts& posts = handover_.posts[part % posts_in_flight];
            // What the copying warps stored is made visible before the counter that says so. A credit needs
            // none: only loads come before it, and their values have been used.
            if (posts.sends > 0) fence_system();
            watch_.posting(part % posts_in_flight);
            std::uint64_t* counter = posts.counter[lane()];
            if (counter != nullptr && channel_.alive != 0) store_relaxed(counter, posts.value[lane()]);
            watch_.posted(part % posts_in_flight, channel_.alive != 0);
            __syncwarp();
            if (lane() == 0) handover_.posted = part + 1;
        }
    }

    /// False when there is no such part.
    __device__ bool await_copied(unsigned int part) {
        const unsigned int warps = static_cast<unsigned int>(workers() / warp_size) * (part + 1);
        bool there = false;
        if (lane() == 0) {
            while (true) {
                there = *static_cast<volatile unsigned int*>(&handover_.copied) >= warps;
                if (there || handover_.parts == static_cast<int>(part)) break;
            }
            __threadfence_block();
        }
        return __shfl_sync(0xffffffffu, there ? 1 : 0, 0) != 0;
    }

    Channel& channel_;
    Handover& handover_;
    const Launch& launch_;
    Watch& watch_;
};

}  // namespace ringscope::engine::cuda
