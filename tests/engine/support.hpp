// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bench/ledger.hpp"
#include "bench/prepare.hpp"
#include "bootstrap/bootstrap.hpp"
#include "engine/host/engine.hpp"
#include "engine/host/interpreter.hpp"
#include "engine/host/user_memory.hpp"
#include "schedule/plan.hpp"
#include "schedule/traffic.hpp"
#include "tests/effort.hpp"
#include "tests/schedules/built.hpp"
#include "verify/guarded_buffer.hpp"
#include "verify/verifier.hpp"

namespace ringscope::engine::host {

/// What an engine can be asked for: a chain, fan-in with pipelining, fan-in with fan-out, by each protocol.
/// The other schedules are made of the same, and the conformance gate has all of them.
inline const std::vector<std::string> shapes{"ring-ll",     "ring-ll128",  "ring-simple",    "tree-ll",
                                             "tree-simple", "two-shot/ll", "two-shot/ll128", "two-shot"};

/// What engines play in tests. Sanitizers see all that they can see in the shapes.
inline const std::vector<std::string> all_algorithms = [] {
    std::vector<std::string> ids = shapes;
    if (sanitized) return ids;
    ids.push_back("tree-ll/ll128");
    for (const auto* more : {&schedules::all_low_latency, &schedules::all}) {
        for (const std::string& id : *more) {
            if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
        }
    }
    return ids;
}();

/// An id as a part of a test's name.
inline std::string test_word(std::string id) {
    for (char& c : id) c = c == '-' || c == '/' ? '_' : c;
    return id;
}

inline std::string test_name_of_id(const testing::TestParamInfo<std::string>& info) {
    return test_word(info.param);
}

inline const ringscope_algorithm& algorithm_of(const std::string& id) {
    return schedules::built(id);
}

/// How a connection set is laid out.
struct Layout {
    std::int64_t slots = 4, slot_bytes = 4096;
    std::int32_t channels = 1;
};

/// With slots of a line at least.
inline schedule::Plan plan_of(const std::string& id, int ranks, std::int64_t bytes, const Layout& layout) {
    const ringscope_algorithm& algorithm = algorithm_of(id);
    const schedule::LinkFormat link = HostEngine::format(static_cast<Protocol>(algorithm.protocol));
    return schedule::make_plan(
        algorithm, {.ranks = ranks,
                    .bytes = bytes,
                    .channels = layout.channels,
                    .slots = layout.slots,
                    .slot_bytes = std::max(layout.slot_bytes, link.line_bytes),
                    .link = link}
    );
}

/// Texts from several threads.
class Faults {
 public:
    void add(const std::string& text) {
        const std::lock_guard lock{mutex_};
        texts_.push_back(text);
    }
    [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
    std::mutex mutex_;
    std::vector<std::string> texts_;
};

/// Counts bytes by the address that they are stored at or loaded from: which peer's mailbox, output or input
/// holds it. Knows nothing of ops.
class AddressTally {
 public:
    AddressTally() = default;
    explicit AddressTally(int ranks) : to_(static_cast<std::size_t>(ranks)), from_(to_) {}

    void add_mailboxes(const std::vector<ReadyOp>& ops) {
        for (const ReadyOp& op : ops) {
            for (const auto& send : op.sends) {
                const std::byte* begin = send.end->box->slots();
                if (find(begin) != nullptr) continue;
                regions_.push_back(
                    {begin, begin + static_cast<std::int64_t>(send.end->slots) * send.end->slot_bytes,
                     &to_[static_cast<std::size_t>(send.where.peer)], nullptr}
                );
            }
        }
    }
    /// The buffers of a peer within reach.
    void add_buffers(const std::byte* input, const std::byte* output, std::int64_t bytes, int peer) {
        regions_.push_back({input, input + bytes, nullptr, &from_[static_cast<std::size_t>(peer)]});
        regions_.push_back({output, output + bytes, &to_[static_cast<std::size_t>(peer)], nullptr});
    }

    void stored(const void* address, std::int64_t bytes) {
        const Region* region = last(address);
        if (region != nullptr && region->stored != nullptr) *region->stored += bytes;
    }
    void loaded(const void* address, std::int64_t bytes) {
        const Region* region = last(address);
        if (region != nullptr && region->loaded != nullptr) *region->loaded += bytes;
    }
    [[nodiscard]] std::int64_t to(int peer) const { return to_[static_cast<std::size_t>(peer)]; }
    [[nodiscard]] std::int64_t from(int peer) const { return from_[static_cast<std::size_t>(peer)]; }

 private:
    struct Region {
        const std::byte *begin, *end;
        std::int64_t *stored, *loaded;
    };
    [[nodiscard]] const Region* last(const void* address) {
        const auto* at = static_cast<const std::byte*>(address);
        if (last_ == nullptr || at < last_->begin || at >= last_->end) last_ = find(at);
        return last_;
    }
    [[nodiscard]] const Region* find(const std::byte* at) const {
        for (const Region& region : regions_) {
            if (at >= region.begin && at < region.end) return &region;
        }
        return nullptr;
    }

    std::vector<Region> regions_;
    std::vector<std::int64_t> to_, from_;
    const Region* last_ = nullptr;
};

/// The tally of the rank that this thread is.
inline thread_local AddressTally* tally = nullptr;

/// A sum of bytes that counts each one that it loads and stores.
inline void counting_sum(
    const std::byte* const* sources, int source_count, std::byte* const* destinations, int destination_count,
    std::int64_t count, std::int32_t
) {
    for (std::int64_t i = 0; i < count; ++i) {
        unsigned sum = 0;
        for (int s = 0; s < source_count; ++s) {
            sum += std::to_integer<unsigned>(sources[s][i]);
            tally->loaded(sources[s] + i, 1);
        }
        for (int d = 0; d < destination_count; ++d) {
            destinations[d][i] = static_cast<std::byte>(sum);
            tally->stored(destinations[d] + i, 1);
        }
    }
}

/// Traces, and counts what the protocols with flags in their lines store.
class CountingProbe : public TraceProbe {
 public:
    using TraceProbe::TraceProbe;
    void stored(const void* address, std::int64_t bytes) { tally->stored(address, bytes); }
};

inline std::vector<trace::EventRow> event_rows(const schedule::Plan& plan, int rank, const EventLog& log) {
    std::vector<trace::EventRow> rows;
    for (const RawEvent& raw : log.events()) {
        const auto& program =
            plan.programs[static_cast<std::size_t>(raw.channel)][static_cast<std::size_t>(rank)];
        const schedule::Op& op = program.ops[static_cast<std::size_t>(raw.op)];
        const auto messages = raw.direction == trace::Direction::recv ? program.recvs(op) : program.sends(op);
        rows.push_back(
            {.rank = rank,
             .channel = raw.channel,
             .op = raw.op,
             .direction = raw.direction,
             .peer = messages[static_cast<std::size_t>(raw.message)].peer,
             .payload_bytes = raw.payload_bytes,
             .wire_bytes = raw.wire_bytes}
        );
    }
    return rows;
}

/// What came of one operation on all ranks.
struct Played {
    std::vector<trace::EventRow> events;
    schedule::LinkBytes counted{1};   ///< stored in the peers' memory, or loaded from it
    std::vector<std::string> faults;  ///< of the verifier, or a rank that waited in vain
};

/// Changes a rank's program before it runs.
using Change = std::function<void(int rank, std::vector<ReadyOp>& ops)>;

/// Whether the ranks' buffers are within each other's reach.
enum class Buffered : std::uint8_t { apart, within_reach };

/// One sum of bytes with everything counted, played by the interpreter on ranks as threads.
template <class Link>
Played play_counted(
    const schedule::Plan& plan, const Change& change = {}, std::int64_t wait_ns = 20'000'000'000,
    Buffered buffered = Buffered::apart
) {
    const int ranks = plan.request.ranks;
    const std::int64_t bytes = plan.request.bytes, room = verify::GuardLayout{bytes, 0}.total;
    const verify::Pattern pattern{DataType::uint8, ReduceOp::sum, ranks, VerifyMode::exact};
    Control control{};
    Played played{.events = {}, .counted = schedule::LinkBytes{ranks}, .faults = {}};
    std::mutex mutex;
    bootstrap::run_as_threads(ranks, [&](bootstrap::Bootstrap& bootstrap) {
        const int rank = bootstrap.rank();
        Connections connections{bootstrap, plan};
        const auto memory = UserMemory::reserve(bootstrap, 2 * room);
        std::vector<ReadyOp> ops = connections.make_ready(plan, 0, Link::min_part_bytes);
        if (change) change(rank, ops);
        verify::GuardedBuffer input{bytes, 0, memory->own()}, output{bytes, 0, memory->own() + room};
        pattern.fill(input.data(), rank, bytes, 1);
        output.poison();
        Buffers buffers{input.data(), output.data(), 1, counting_sum};
        if (buffered == Buffered::within_reach)
            buffers.distances = memory->distances(input.data(), output.data(), bytes);
        AddressTally own_tally{ranks};
        own_tally.add_mailboxes(ops);
        for (std::size_t peer = 0; peer < buffers.distances.size(); ++peer) {
            const std::ptrdiff_t distance = buffers.distances[peer];
            if (distance != 0)
                own_tally.add_buffers(
                    input.data() + distance, output.data() + distance, bytes, static_cast<int>(peer)
                );
        }
        tally = &own_tally;
        Scratch scratch{static_cast<std::size_t>(ranks), Link::block_bytes};
        Waiter waiter{control, rank, wait_ns, true};
        EventLog log{2 * schedule::events_per_operation(plan, rank) + 16};
        CountingProbe probe{ops};
        bootstrap.barrier();
        probe.start(log, 1);
        (void)probe.enter();
        std::string fault;
        try {
            interpret<Link>(ops, buffers, scratch, waiter, probe);
            fault = verify::Verifier{pattern}.check(output, &input, rank, 1).what;
        } catch (const GaveUp&) {
            fault = "rank " + std::to_string(rank) + " waited in vain";
        }
        (void)probe.leave();
        probe.finish();
        bootstrap.barrier();
        const std::lock_guard lock{mutex};
        if (!fault.empty()) played.faults.push_back(fault);
        for (int peer = 0; peer < ranks; ++peer) {
            played.counted.at(rank, peer) += own_tally.to(peer);
            played.counted.at(peer, rank) += own_tally.from(peer);
        }
        for (const trace::EventRow& row : event_rows(plan, rank, log)) played.events.push_back(row);
    });
    return played;
}

inline Played play_counted(
    const schedule::Plan& plan, const Change& change = {}, std::int64_t wait_ns = 20'000'000'000,
    Buffered buffered = Buffered::apart
) {
    return with_link(plan.request.link.protocol, [&]<class Link>(Link) {
        return play_counted<Link>(plan, change, wait_ns, buffered);
    });
}

/// What a plan declares and its closed form, as a case has them.
inline bench::PreparedCase accounts_of(const std::string& id, const schedule::Plan& plan) {
    bench::PreparedCase prepared;
    prepared.declared = schedule::declared_traffic(plan);
    prepared.closed_form = schedule::closed_form_traffic(algorithm_of(id), plan.request);
    return prepared;
}

inline bench::Ledger ledger_of(const std::string& id, const schedule::Plan& plan, const Played& played) {
    bench::TracedTraffic traced;
    traced.add(played.events);
    return bench::make_ledger(0, accounts_of(id, plan), traced, 1, false);
}

}  // namespace ringscope::engine::host
