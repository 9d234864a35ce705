// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/host/engine.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "engine/host/interpreter.hpp"
#include "engine/host/kernel.hpp"
#include "engine/host/user_memory.hpp"

namespace ringscope::engine::host {
namespace {

std::size_t most_peers(const std::vector<ReadyOp>& ops) {
    std::size_t most = 0;
    for (const ReadyOp& op : ops) most = std::max({most, op.recvs.size(), op.sends.size()});
    return most;
}

/// Of one instance of the third level, as the kernel says it in KiB: "32768K"; 0 where it does not. What the
/// processor itself says (sysconf) is the sum of all instances, also of those that a virtual machine lacks.
std::int64_t last_cache_bytes() {
    std::ifstream file{"/sys/devices/system/cpu/cpu0/cache/index3/size"};
    std::int64_t kib = 0;
    return file >> kib ? kib * 1024 : 0;
}

/// By what the inputs and outputs of all ranks are to the last cache. A store past it spares reading a line
/// that the peer, or nobody, has; whoever reads the result next has it from memory then. Measured with that
/// reading, on two ranks: to half the cache all is best cached, from as much on (0.9 of the time) to three
/// times as much the own results; more than four times as much is nowhere cached.
Cached cached_results(const schedule::PlanRequest& request) {
    static const auto cache = static_cast<double>(last_cache_bytes());
    const double used = 2.0 * static_cast<double>(request.bytes) * request.ranks;
    if (cache == 0 || used < cache) return Cached::all;
    return used < 4 * cache ? Cached::own : Cached::none;
}

template <class Link>
class HostCollective final : public BlockingCollective {
 public:
    HostCollective(
        HostEngine& engine, std::int32_t rank, std::shared_ptr<Connections> connections,
        const schedule::Plan& plan, DataType dtype, ReduceOp op, std::unique_ptr<UserMemory> memory
    )
        : engine_{engine},
          ranks_{plan.request.ranks},
          connections_{std::move(connections)},
          ops_{connections_->make_ready(
              plan, op == ReduceOp::avg ? static_cast<std::int32_t>(plan.members.size()) : 0,
              Link::min_part_bytes
          )},
          scratch_{most_peers(ops_), Link::block_bytes},
          waiter_{engine.control(), rank, engine.options().wait_ns, engine.options().oversubscribed},
          trace_{ops_},
          memory_{std::move(memory)},
          bytes_{plan.request.bytes},
          cached_{cached_results(plan.request)},
          element_bytes_{size_of(dtype)},
          reduce_copy_{reduce::reduce_copy(dtype, op)} {}

    void run(const std::byte* input, std::byte* output) override {
        NoProbe none;
        play(input, output, none);
    }

    void run_traced(const std::byte* input, std::byte* output, EventLog&) override {
        play(input, output, trace_);
    }
    void begin_trace(std::size_t operations, EventLog& events) override { trace_.start(events, operations); }
    std::int64_t enter_trace() override { return trace_.enter(); }
    std::int64_t leave_trace() override { return trace_.leave(); }
    std::int64_t end_trace(EventLog&) override { return trace_.finish(); }

 private:
    template <class Probe>
    void play(const std::byte* input, std::byte* output, Probe& probe) {
        Buffers buffers{input, output, element_bytes_, reduce_copy_, cached_};
        if (memory_) buffers.distances = memory_->distances(input, output, bytes_);
        try {
            interpret<Link>(ops_, buffers, scratch_, waiter_, probe);
        } catch (const GaveUp&) {
            throw StuckError{stuck_message(engine_.control(), ranks_, engine_.options().wait_ns)};
        }
    }

    HostEngine& engine_;
    std::int32_t ranks_;
    std::shared_ptr<Connections> connections_;
    std::vector<ReadyOp> ops_;
    Scratch scratch_;
    Waiter waiter_;
    TraceProbe trace_;
    std::unique_ptr<UserMemory> memory_;
    std::int64_t bytes_;
    Cached cached_;
    std::int64_t element_bytes_;
    reduce::ReduceCopy reduce_copy_;
};

void check_placement(const bootstrap::Bootstrap& bootstrap) {
    if (static_cast<int>(bootstrap.local_ranks().size()) != bootstrap.size()) {
        throw Error{
            ExitCode::unusable_engine,
            "engine host-shm needs all ranks on one host; rank " + std::to_string(bootstrap.rank()) +
                " shares memory with " + std::to_string(bootstrap.local_ranks().size()) + " of " +
                std::to_string(bootstrap.size()) + "; between hosts there is the baseline mpi alone"};
    }
    if (bootstrap.size() > max_ranks) {
        throw Error{
            ExitCode::unusable_engine,
            "engine host-shm has room for " + std::to_string(max_ranks) + " ranks"};
    }
}

}  // namespace

HostEngine::HostEngine(bootstrap::Bootstrap& bootstrap, const HostOptions& options)
    : bootstrap_{bootstrap}, options_{options} {
    if (!options.across_hosts) bootstrap::agree(bootstrap, [&] { check_placement(bootstrap); });
    const int first = bootstrap.local_ranks().front();
    control_window_ = transport::make_windows(bootstrap, bootstrap.rank() == first ? sizeof(Control) : 0);
    control_ = reinterpret_cast<Control*>(control_window_->of(first));
}

bool HostEngine::has(Protocol protocol) {
    return protocol == Protocol::ll || protocol == Protocol::ll128 || protocol == Protocol::simple;
}

schedule::LinkFormat HostEngine::format(Protocol protocol) {
    if (!has(protocol)) throw Error{ExitCode::unusable_engine, "engine host-shm does not have this protocol"};
    return with_link(protocol, [](auto link) { return link.format; });
}

/// Connections come first: nothing works without them, and without that memory it only takes longer.
PreparedOnHost HostEngine::prepare(
    const std::string& key, const schedule::Plan& plan, DataType dtype, ReduceOp op, std::int64_t user_bytes
) {
    std::shared_ptr<Connections>& connections = connections_[key];
    if (!connections || !connections->serve(plan))
        connections = std::make_shared<Connections>(bootstrap_, plan);
    std::unique_ptr<UserMemory> memory;
    if (user_bytes > 0) memory = UserMemory::reserve(bootstrap_, user_bytes);
    std::byte* const user_memory = memory ? memory->own() : nullptr;
    const auto make = [&]<class Link>(Link) -> std::unique_ptr<BlockingCollective> {
        return std::make_unique<HostCollective<Link>>(
            *this, bootstrap_.rank(), connections, plan, dtype, op, std::move(memory)
        );
    };
    return {with_link(plan.request.link.protocol, make), user_memory};
}

std::unique_ptr<BlockingCollective> HostEngine::prepare_kernel(
    const ringscope_host_kernel& kernel, std::int64_t count, DataType dtype, ReduceOp op
) {
    const ringscope_kernel_request request{
        .size = sizeof(ringscope_kernel_request),
        .ranks = bootstrap_.size(),
        .rank = bootstrap_.rank(),
        .dtype = static_cast<std::int32_t>(dtype),
        .reduction = static_cast<std::int32_t>(op),
        .count = count,
        .windows = nullptr,
        .wait = nullptr,
        .keep_waiting = nullptr};
    return std::make_unique<KernelCollective>(bootstrap_, *this, kernel, request);
}

std::string stuck_message(const Control& control, std::int32_t ranks, std::int64_t wait_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    if (control.terminated.load() == SIGTERM)
        return "ended by SIGTERM, which mpirun sends when another rank died: " +
               describe_stuck(control, ranks);
    if (control.terminated.load() != 0)
        return "ended by signal " + std::to_string(control.terminated.load()) + ": " +
               describe_stuck(control, ranks);
    return timeout_message(describe_stuck(control, ranks), wait_ns);
}

std::string timeout_message(const std::string& who_waits, std::int64_t wait_ns) {
    return "no progress for " + std::to_string(wait_ns / 1'000'000) + " ms (timeout.wait): " + who_waits;
}

}  // namespace ringscope::engine::host
