// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/engine.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "base/time.hpp"
#include "cuda/cuda.hpp"
#include "cuda/memory_ops.hpp"
#include "engine/cuda/clock.hpp"
#include "engine/cuda/collective.hpp"
#include "engine/cuda/copy_engine.hpp"
#include "engine/cuda/device_clocks.hpp"
#include "engine/cuda/ground.hpp"
#include "engine/cuda/host_driven.hpp"
#include "engine/cuda/layout.hpp"
#include "engine/cuda/legs.hpp"

namespace ringscope::engine::cuda {
namespace {

namespace wall = ringscope::cuda;

constexpr std::int64_t least_capability = 7;

/// Below this a part is not worth a flag of its own, or the calls that a copy takes.
constexpr std::int64_t min_part_bytes = 32768, min_copied_bytes = 262144;

/// Ranks of a host take its GPUs in turn; where each rank sees only its own, that is GPU 0.
int device_of(const bootstrap::Bootstrap& bootstrap, int devices) {
    const auto& local = bootstrap.local_ranks();
    const auto index = std::ranges::find(local, bootstrap.rank()) - local.begin();
    return static_cast<int>(index) % devices;
}

void check_launch_blocking() {
    const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
    if (value == nullptr || std::string_view{value} == "0" || std::string_view{value}.empty()) return;
    throw Error{
        ExitCode::usage,
        "CUDA_LAUNCH_BLOCKING=" + std::string{value} +
            " lets each launch wait for its kernel, and kernels that wait for each other would never end: "
            "unset it"};
}

Gpu take_gpu(const bootstrap::Bootstrap& bootstrap) {
    check_launch_blocking();
    if (static_cast<int>(bootstrap.local_ranks().size()) != bootstrap.size()) {
        throw Error{ExitCode::unusable_engine, "the engines on GPUs need all ranks on one host"};
    }
    std::string reason;
    const int devices = wall::device_count(reason);
    if (devices == 0) throw Error{ExitCode::unusable_engine, reason};
    const int device = device_of(bootstrap, devices);
    wall::use_device(device);
    const wall::DeviceInfo info = wall::device_info(device);
    if (info.major < least_capability) {
        throw Error{
            ExitCode::unusable_engine, "the engines on GPUs need compute capability 7.0, " + info.name +
                                           " has " + std::to_string(info.major) + "." +
                                           std::to_string(info.minor)};
    }
    return {
        device,
        info.name,
        info.uuid,
        info.pci_id,
        info.multiprocessors,
        wall::has_memory_ops(device),
        wall::has_early_kernels(device)};
}

std::string pack(const Gpu& gpu) {
    return std::to_string(gpu.index) + " " + std::to_string(gpu.multiprocessors) + " " +
           std::to_string(gpu.memory_ops ? 1 : 0) + " " + std::to_string(gpu.overlaps ? 1 : 0) + "\n" +
           gpu.name + "\n" + gpu.uuid + "\n" + gpu.pci_id;
}

Gpu unpack(const std::string& text) {
    std::istringstream lines{text};
    Gpu gpu;
    lines >> gpu.index >> gpu.multiprocessors >> gpu.memory_ops >> gpu.overlaps >> std::ws;
    std::getline(lines, gpu.name);
    std::getline(lines, gpu.uuid);
    std::getline(lines, gpu.pci_id);
    return gpu;
}

std::vector<Gpu> gather_gpus(bootstrap::Bootstrap& bootstrap) {
    Gpu own;
    bootstrap::agree(bootstrap, [&] { own = take_gpu(bootstrap); });
    std::vector<Gpu> gpus;
    for (const std::string& text : bootstrap.all_gather(pack(own))) gpus.push_back(unpack(text));
    return gpus;
}

/// Kernels of several processes take turns on a GPU, which is slow and no measurement.
void check_shared(const std::vector<Gpu>& gpus) {
    std::map<std::string, std::size_t> owners;
    for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
        const auto [owner, is_new] = owners.try_emplace(gpus[rank].uuid, rank);
        if (is_new) continue;
        throw Error{
            ExitCode::usage, "ranks " + std::to_string(owner->second) + " and " + std::to_string(rank) +
                                 " share " + gpus[rank].name + " " + gpus[rank].uuid +
                                 ": start one rank per GPU, or say --allow-shared-gpu (no measurement)"};
    }
}

/// Why a line of 128 bytes that one of this rank's warps stores may not arrive at a peer as one, or "".
std::string torn_lines(const std::vector<Gpu>& gpus, std::size_t rank) {
    for (std::size_t peer = 0; peer < gpus.size(); ++peer) {
        if (gpus[peer].uuid == gpus[rank].uuid) continue;
        const std::string pair = "ranks " + std::to_string(rank) + " and " + std::to_string(peer);
        const int device = wall::device_at(gpus[peer].pci_id);
        if (device < 0)
            return "protocol ll128 needs NVLink, and whether it joins the GPUs of " + pair +
                   " is not known: let every rank see all GPUs (CUDA_VISIBLE_DEVICES)";
        if (!wall::joined_by_nvlink(gpus[rank].index, device))
            return "protocol ll128 needs NVLink, and the GPUs of " + pair +
                   " are joined by PCIe, which does not promise that a line arrives as one";
    }
    return "";
}

std::vector<int> indices_of(const std::vector<Gpu>& gpus) {
    std::vector<int> indices;
    for (const Gpu& gpu : gpus) indices.push_back(gpu.index);
    return indices;
}

}  // namespace

struct CudaEngine::State {
    State(bootstrap::Bootstrap& bootstrap_, host::Control& control_, const CudaOptions& options_)
        : bootstrap{bootstrap_},
          control{control_},
          options{options_},
          gpus{gather_gpus(bootstrap)},
          ground{bootstrap, indices_of(gpus), {options.wait_ns, options.first_number, options.peer_lie}},
          clocks{
              control,
              {.ranks = bootstrap.size(),
               .rank = bootstrap.rank(),
               .host = options.host_clock,
               .wait_ns = options.wait_ns}} {}

    bootstrap::Bootstrap& bootstrap;
    host::Control& control;
    CudaOptions options;
    std::vector<Gpu> gpus;
    Ground ground;
    DeviceClocks clocks;
    std::unique_ptr<wall::HostRegistration> registration;
    std::shared_ptr<wall::Stream> stream;  ///< of all cases
    std::int64_t first_launch_ns = -1;
    std::string torn_lines;  ///< why lines of LL128 may be torn between some ranks, or ""
};

namespace {

using State = CudaEngine::State;

void open(State& s) {
    bootstrap::agree(s.bootstrap, [&] {
        if (!s.bootstrap.shares_address_space() && !s.options.allow_shared_gpu) check_shared(s.gpus);
    });
    bootstrap::agree(s.bootstrap, [&] {
        s.registration = std::make_unique<wall::HostRegistration>(&s.control, sizeof(host::Control));
        s.stream = std::make_shared<wall::Stream>();
        const std::int64_t begin = now_ns();
        launch_empty(*s.stream);
        s.stream->synchronize();
        s.first_launch_ns = now_ns() - begin;
    });
    std::string torn;
    bootstrap::agree(s.bootstrap, [&] {
        torn = torn_lines(s.gpus, static_cast<std::size_t>(s.bootstrap.rank()));
    });
    for (const std::string& reason : s.bootstrap.all_gather(torn)) {
        if (s.torn_lines.empty()) s.torn_lines = reason;
    }
}

/// Threads of a block that copy: the most there may be, and the payload of a message that each of them moves
/// at a time, 0 where fewer threads gain nothing.
struct Threads {
    std::int32_t most;
    std::int64_t bytes_each;
};

Threads threads_of(Protocol protocol) {
    if (protocol == Protocol::ll) return {most_ll_threads, 8};
    if (protocol == Protocol::ll128) return {most_ll128_threads, 60};
    return {most_simple_threads, 0};
}

std::int32_t threads_for(const CaseRequest& request) {
    const schedule::Plan& plan = *request.plan;
    const auto [most, bytes_each] = threads_of(plan.request.link.protocol);
    if (request.threads > 0) return std::min(request.threads, most);
    if (bytes_each == 0) return most;
    const std::int64_t lanes = (plan.piece(0, 0, 0).size + bytes_each - 1) / bytes_each;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>((lanes + 31) / 32 * 32, 64, most));
}

/// All kernels of a GPU must be on it at the same time, or they wait for one that never starts.
void check_resident(const State& s, const void* kernel, int blocks, int threads) {
    const std::string& own = s.gpus[static_cast<std::size_t>(s.bootstrap.rank())].uuid;
    const auto ranks = std::ranges::count(s.gpus, own, &Gpu::uuid);
    const int room = resident_blocks(kernel, threads);
    if (ranks * blocks <= room) return;
    throw Error{
        ExitCode::usage, std::to_string(ranks) + " ranks with " + std::to_string(blocks) +
                             " channels each on one GPU would not be resident together, it holds " +
                             std::to_string(room) +
                             " blocks and they would wait for each other for ever: set fewer channels "
                             "(params: channels) or ranks"};
}

/// A kernel that begins before the one before it ends takes room on the GPU that another rank's kernel, for
/// which that one waits, may need: so only where a rank has its GPU to itself. A single operation has none
/// before it.
bool may_overlap(const State& s, Mode mode) {
    const Gpu& own = s.gpus[static_cast<std::size_t>(s.bootstrap.rank())];
    return mode != Mode::isolated && own.overlaps && std::ranges::count(s.gpus, own.uuid, &Gpu::uuid) == 1;
}

ImageRequest image_request(const State& s, const CaseRequest& request, const Place& place) {
    return {
        .rank = s.bootstrap.rank(),
        .divisor = request.op == ReduceOp::avg ? static_cast<std::int32_t>(request.plan->members.size()) : 0,
        .min_part_bytes = request.copy_engines ? min_copied_bytes : min_part_bytes,
        .memory = place.connections,
        .within_reach = request.engine == GpuEngine::p2p};
}

std::unique_ptr<Collective> make_interpreter(
    State& s, const CaseRequest& request, const Layout& layout, const Place& place
) {
    const schedule::Plan& plan = *request.plan;
    const Protocol protocol = plan.request.link.protocol;
    const int copying = threads_for(request);
    const int threads = copying + (protocol == Protocol::simple ? 32 : 0);
    check_resident(s, kernels_of(request.dtype).of(protocol, true), plan.request.channels, threads);
    return std::make_unique<Interpreter>(
        s.control, *s.registration, place.connections[static_cast<std::size_t>(s.bootstrap.rank())], layout,
        make_image(plan, layout, image_request(s, request, place)), s.clocks,
        InterpreterOptions{
            .protocol = protocol,
            .dtype = request.dtype,
            .op = request.op,
            .mode = request.mode,
            .ranks = plan.request.ranks,
            .rank = s.bootstrap.rank(),
            .channels = plan.request.channels,
            .slots = plan.request.slots,
            .slot_bytes = plan.request.slot_bytes,
            .threads = threads,
            .wait_ns = s.options.wait_ns,
            .first_number = s.options.first_number,
            .direct = request.engine == GpuEngine::p2p && protocol == Protocol::simple &&
                      plan.request.direct != schedule::Direct::none,
            .overlaps = may_overlap(s, request.mode),
            .counting = s.options.counting},
        s.stream
    );
}

std::unique_ptr<Collective> make_copy_engine(
    State& s, const CaseRequest& request, const Layout& layout, const Place& place
) {
    const schedule::Plan& plan = *request.plan;
    return std::make_unique<CopyEngine>(
        s.control, s.ground.windows(), make_legs(plan, layout, image_request(s, request, place)), s.clocks,
        CopyEngineOptions{
            .dtype = request.dtype,
            .op = request.op,
            .ranks = plan.request.ranks,
            .rank = s.bootstrap.rank(),
            .slots = plan.request.slots,
            .slot_bytes = plan.request.slot_bytes,
            .wait_ns = s.options.wait_ns,
            .first_number = s.options.first_number},
        s.stream
    );
}

/// Kernels of several processes take turns on a GPU, and a question would wait for its turn.
bool asks_peers(const State& s, const CaseRequest& request) {
    const bool alone = std::ranges::all_of(s.gpus, [&](const Gpu& gpu) {
        return std::ranges::count(s.gpus, gpu.uuid, &Gpu::uuid) == 1;
    });
    return request.engine == GpuEngine::p2p && std::ssize(s.gpus) <= ClockMail::most_ranks &&
           (alone || s.bootstrap.shares_address_space());
}

ClockMail clock_mail(const Place& place, std::int64_t offset) {
    ClockMail mail;
    for (std::size_t rank = 0; rank < place.connections.size(); ++rank)
        mail.of[rank] = place.connections[rank] + offset;
    return mail;
}

/// Who plays it without the host: a kernel, or copy engines. [collective]
PreparedOnGpu prepare_on_device(State& s, const CaseRequest& request) {
    const Layout layout{*request.plan};
    const bool asks = asks_peers(s, request);
    const Place place = s.ground.reserve(
        request.engine, layout.bytes() + (asks ? ClockMail::bytes() : 0), request.user_bytes
    );
    s.clocks.begin_case(asks ? std::optional{clock_mail(place, layout.bytes())} : std::nullopt);
    PreparedOnGpu prepared{.collective = nullptr, .user_memory = place.user};
    bootstrap::agree(s.bootstrap, [&] {
        prepared.collective = request.copy_engines ? make_copy_engine(s, request, layout, place)
                                                   : make_interpreter(s, request, layout, place);
    });
    return prepared;
}

/// [collective]
PreparedOnGpu prepare_host_driven(State& s, const CaseRequest& request) {
    const schedule::Plan& plan = *request.plan;
    const SenderSlots slots{plan};
    const Place place = s.ground.reserve(request.engine, slots.bytes(), request.user_bytes);
    PreparedOnGpu prepared{.collective = nullptr, .user_memory = place.user};
    auto connections = std::make_unique<host::Connections>(
        s.bootstrap, plan,
        [&](std::int32_t channel, std::int32_t src, std::int32_t dst) {
            return place.connections[static_cast<std::size_t>(src)] + slots.at(channel, src, dst);
        }
    );
    bootstrap::agree(s.bootstrap, [&] {
        prepared.collective = std::make_unique<HostDriven>(
            s.control, std::move(connections), plan,
            HostDrivenOptions{
                .dtype = request.dtype,
                .op = request.op,
                .rank = s.bootstrap.rank(),
                .wait_ns = s.options.wait_ns,
                .oversubscribed = s.options.oversubscribed,
                .fault = s.options.loop_fault},
            s.stream
        );
    });
    return prepared;
}

/// [collective]
void check_refusal(State& s, GpuEngine engine) {
    const Refusal& refusal = s.ground.refusal(engine);
    if (!refusal.reason.empty()) throw bootstrap::AgreedError{refusal.code, refusal.reason};
}

/// [collective]
PreparedOnGpu prepare_plan(State& s, const CaseRequest& request) {
    check_refusal(s, request.engine);
    return request.engine == GpuEngine::host_driven ? prepare_host_driven(s, request)
                                                    : prepare_on_device(s, request);
}

/// [collective]
PreparedOnGpu prepare_alone(State& s, const CaseRequest& request) {
    const Place place = s.ground.reserve(request.engine, 0, request.user_bytes);
    PreparedOnGpu prepared{.collective = nullptr, .user_memory = place.user};
    bootstrap::agree(s.bootstrap, [&] {
        prepared.collective = std::make_unique<DeviceCopy>(request.bytes, request.mode, s.stream);
    });
    return prepared;
}

}  // namespace

std::string CudaEngine::unsuitable(bootstrap::Bootstrap& bootstrap) {
    std::string reason;
    const int devices = wall::device_count(reason);
    const std::string own =
        devices > 0 ? std::string{"\n"} + wall::device_info(device_of(bootstrap, devices)).uuid : reason;
    std::set<std::string> seen;
    for (const std::string& gpu : bootstrap.all_gather(own)) {
        if (!gpu.starts_with("\n")) return gpu;
        seen.insert(gpu);
    }
    if (static_cast<int>(seen.size()) < bootstrap.size()) return "ranks would share a GPU";
    return seen.size() < 2 ? "a link needs two GPUs" : "";
}

CudaEngine::CudaEngine(bootstrap::Bootstrap& bootstrap, host::Control& control, const CudaOptions& options)
    : state_{std::make_unique<State>(bootstrap, control, options)} {
    open(*state_);
}

CudaEngine::~CudaEngine() = default;

const Refusal& CudaEngine::refusal(GpuEngine engine) {
    return state_->ground.refusal(engine);
}

/// Streams of one process share the queues of a GPU's copy engines: a stream that waits for a peer holds up
/// the copies of another rank there, for which that peer may be waiting. Four ranks on two GPUs hang.
bool CudaEngine::has_copy_engines() const {
    const std::vector<Gpu>& gpus = state_->gpus;
    return std::ranges::all_of(gpus, [&](const Gpu& gpu) {
        const bool alone = std::ranges::count(gpus, gpu.uuid, &Gpu::uuid) == 1;
        return gpu.memory_ops && (alone || !state_->bootstrap.shares_address_space());
    });
}

PreparedOnGpu CudaEngine::prepare(const CaseRequest& request) {
    State& s = *state_;
    PreparedOnGpu prepared = request.plan == nullptr ? prepare_alone(s, request) : prepare_plan(s, request);
    // Nobody starts before everybody's counters are zero.
    s.bootstrap.barrier();
    prepared.empty_ns = measure_empty(*s.stream, request.mode);
    return prepared;
}

Place CudaEngine::reserve(GpuEngine engine, std::int64_t shared, std::int64_t user) {
    State& s = *state_;
    check_refusal(s, engine);
    Place place = s.ground.reserve(engine, shared, user);
    // Nobody writes to a peer before it has emptied its memory.
    s.bootstrap.barrier();
    return place;
}

ColdSteps CudaEngine::cold_steps() const {
    return {state_->first_launch_ns, state_->ground.open_ns()};
}

const std::vector<Gpu>& CudaEngine::gpus() const {
    return state_->gpus;
}

std::int32_t CudaEngine::most_channels() const {
    std::map<std::string, std::int32_t> ranks;
    for (const Gpu& gpu : state_->gpus) ++ranks[gpu.uuid];
    std::int32_t most = 128;
    for (const Gpu& gpu : state_->gpus) most = std::min(most, gpu.multiprocessors / ranks[gpu.uuid]);
    return std::max(1, most);
}

std::string CudaEngine::unsupported(Protocol protocol) const {
    return protocol == Protocol::ll128 ? state_->torn_lines : "";
}

std::vector<std::int32_t> CudaEngine::staged_numa_nodes() const {
    return state_->ground.numa_nodes();
}

void CudaEngine::close() {
    state_->ground.close();
}

std::vector<clock::Exchange> CudaEngine::ask_clock() const {
    return ask_device(*state_->stream);
}

CudaVersions CudaEngine::versions() {
    CudaVersions versions;
    cudaDriverGetVersion(&versions.driver);
    cudaRuntimeGetVersion(&versions.runtime);
    return versions;
}

}  // namespace ringscope::engine::cuda
