// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/prepare.hpp"

#include "base/text.hpp"
#include "baseline/mpi.hpp"
#include "engine/local_copy.hpp"
#include "reduce/reduce.hpp"

namespace ringscope::bench {
namespace {

using baseline::Mpi;
using baseline::Nccl;
using engine::Engine;
using engine::cuda::GpuEngine;
using engine::host::HostEngine;

/// Cases that may share connections: of one schedule, with links that are alike.
std::string key_of(const AlgorithmChoice& algorithm, const schedule::PlanRequest& request) {
    std::vector<std::string> words{algorithm.id, std::string{name_of(request.link.protocol)}};
    for (const std::int64_t value : request.options) words.push_back(std::to_string(value));
    for (const std::int64_t value : {std::int64_t{request.channels}, request.slots, request.slot_bytes})
        words.push_back(std::to_string(value));
    return join(words, " ");
}

bool is_baseline(const Case& point) {
    return point.algorithm.id == Mpi::id || point.algorithm.id == Nccl::id;
}

/// The values of an algorithm's options, set or usual.
std::vector<std::int64_t> options_of(const ringscope_algorithm& algorithm, const AlgorithmChoice& choice) {
    std::vector<std::int64_t> values = schedule::usual_options(algorithm);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = choice.param(algorithm.options[i].name, values[i]);
    return values;
}

bool can_use(const ringscope_algorithm& algorithm, std::int32_t protocol) {
    return protocol == algorithm.protocol || (protocol >= 0 && protocol < RINGSCOPE_PROTOCOL_COUNT &&
                                              (algorithm.protocols >> protocol & 1u) != 0);
}

/// The algorithm's protocols that an engine has, the usual one first.
std::vector<std::int32_t> playable(const ringscope_algorithm& algorithm, const Engine& engine) {
    std::vector<std::int32_t> protocols{algorithm.protocol};
    for (std::int32_t i = 0; i < RINGSCOPE_PROTOCOL_COUNT; ++i) protocols.push_back(i);
    std::erase_if(protocols, [&](std::int32_t protocol) {
        return !can_use(algorithm, protocol) || !engine.has(static_cast<Protocol>(protocol));
    });
    return protocols;
}

/// What a case says of messages in user buffers, else what is usual. GPUs move packs of 16 bytes there.
schedule::Direct direct_of(const Case& point, const Engine& engine, schedule::Direct usual) {
    constexpr std::int64_t pack = 16;
    const bool reaches = !engine.gpu || engine.gpu == GpuEngine::p2p;
    const bool aligned = !engine.gpu || point.offset * size_of(point.dtype) % pack == 0;
    if (!reaches || !aligned) return schedule::Direct::none;
    const auto named = std::ranges::find(schedule::direct_names, point.algorithm.word("direct"));
    if (named == schedule::direct_names.end()) return usual;
    return static_cast<schedule::Direct>(named - schedule::direct_names.begin());
}

/// What a case says of copy engines; -1: nothing.
std::int64_t copy_engine(const Case& point) {
    return point.algorithm.param("copy_engine", -1);
}

void check_usable(const std::string& name, const void* engine, const Unusable& reason) {
    if (engine == nullptr) throw Error{reason.code, name + " cannot be used here: " + reason.reason};
}

}  // namespace

std::string Preparer::engine_of(const Case& point) const {
    return is_baseline(point) ? point.algorithm.id : engine_for(point).name;
}

bool Preparer::on_device(const Case& point) const {
    return is_baseline(point) ? point.algorithm.id == Nccl::id : engine_for(point).gpu.has_value();
}

const Engine& Preparer::engine_for(const Case& point) const {
    const Engine& host = *engine::find_engine(HostEngine::name);
    if (point.engine != "auto") return *engine::find_engine(point.engine);
    const Engine& automatic = automatic_for(algorithm_of(point));
    return playable(algorithm_of(point), automatic).empty() ? host : automatic;
}

/// Where there are GPUs an algorithm may have an engine of its own.
const Engine& Preparer::automatic_for(const ringscope_algorithm& algorithm) const {
    const Engine& usual = *engine::find_engine(engines_.automatic);
    if (!usual.gpu || algorithm.gpu_engine == nullptr) return usual;
    const Engine* own = engine::find_engine(algorithm.gpu_engine);
    return own == nullptr ? usual : *own;
}

bool Preparer::by_copy_engines(const Case& point, Protocol protocol) const {
    if (engine_for(point).gpu != GpuEngine::staged) return false;
    if (copy_engine(point) > 0 && protocol != Protocol::simple)
        throw Error{ExitCode::usage, "copy engines play protocol simple alone: leave out `copy_engine`"};
    const bool here = engines_.cuda == nullptr || engines_.cuda->has_copy_engines();
    return here && engine::by_copy_engines(copy_engine(point), protocol, point.mode, point.bytes);
}

std::int32_t Preparer::most_channels() const {
    return engines_.cuda == nullptr ? 128 : engines_.cuda->most_channels();
}

std::optional<schedule::Plan> Preparer::plan(const Case& point) const {
    if (is_baseline(point) || bootstrap_.size() == 1) return std::nullopt;
    return schedule::make_plan(algorithm_of(point), plan_request(point));
}

/// What the user sets comes first, then what the algorithm chooses, then the engine's defaults.
schedule::PlanRequest Preparer::plan_request(const Case& point) const {
    const ringscope_algorithm& algorithm = algorithm_of(point);
    const Engine& engine = engine_for(point);
    schedule::PlanRequest request{
        .ranks = bootstrap_.size(), .bytes = point.bytes, .options = options_of(algorithm, point.algorithm)};
    const ringscope_tuning tuning = tuning_of(point, request, engine);
    const auto protocol = static_cast<Protocol>(tuning.protocol);
    request.link = engine::format_on(engine, protocol);
    engine::Defaults defaults = engine.defaults(
        {.protocol = protocol,
         .chunk_bytes = point.bytes / std::max(1, schedule::chunks_of(algorithm, request)),
         .most_channels = most_channels(),
         .copy_engines = by_copy_engines(point, protocol)}
    );
    if (tuning.channels > 0) defaults.channels = tuning.channels;
    if (tuning.slot_bytes > 0) defaults.slot_bytes = tuning.slot_bytes;
    request.channels = static_cast<std::int32_t>(point.algorithm.param("channels", defaults.channels));
    request.slots = point.algorithm.param("slots", defaults.slots);
    request.slot_bytes = point.algorithm.param("slot_bytes", defaults.slot_bytes);
    request.direct = direct_of(point, engine, defaults.direct);
    return request;
}

ringscope_tuning Preparer::tuning_of(
    const Case& point, const schedule::PlanRequest& request, const Engine& engine
) const {
    const ringscope_algorithm& algorithm = algorithm_of(point);
    ringscope_tuning tuning{
        .size = sizeof(ringscope_tuning),
        .channels = 0,
        .slot_bytes = 0,
        .protocol = algorithm.protocol,
        .engine = engine.name};
    const ringscope_place place = schedule::place_of(request, 0);
    if (algorithm.tune != nullptr && algorithm.tune(&place, point.bytes, &tuning) != RINGSCOPE_OK)
        throw Error{ExitCode::internal, point.algorithm.id + ": the plugin's tune() failed"};
    // A plugin need not know which protocols an engine has, nor what this machine's links are.
    std::vector<std::int32_t> protocols = playable(algorithm, engine);
    std::erase_if(protocols, [&](std::int32_t p) {
        return engine.gpu && engines_.cuda != nullptr &&
               !engines_.cuda->unsupported(static_cast<Protocol>(p)).empty();
    });
    const bool played = std::ranges::find(protocols, tuning.protocol) != protocols.end();
    if (can_use(algorithm, tuning.protocol) && !played && !protocols.empty())
        tuning.protocol = protocols.front();
    if (const auto asked = protocol(point.algorithm.word("protocol")))
        tuning.protocol = static_cast<std::int32_t>(*asked);
    if (!can_use(algorithm, tuning.protocol))
        throw Error{
            ExitCode::internal,
            point.algorithm.id + ": the plugin's tune() chose a protocol that it does not name"};
    return tuning;
}

/// One rank needs no schedule, but it must be one that takes part.
void Preparer::check_alone(const Case& point) const {
    if (bootstrap_.size() > 1) return;
    const ringscope_algorithm& algorithm = algorithm_of(point);
    const schedule::PlanRequest request{.ranks = 1, .options = options_of(algorithm, point.algorithm)};
    const ringscope_place place = schedule::place_of(request, 0);
    if (algorithm.takes_part == nullptr || algorithm.takes_part(&place) != 0) return;
    throw Error{ExitCode::usage, point.algorithm.id + " on 1 rank: no rank is left to take part"};
}

/// What cannot be put into a graph.
void Preparer::check_mode(const Case& point) const {
    if (point.mode != Mode::graph) return;
    if (!on_device(point)) throw Skipped{"a graph needs a GPU engine, this is " + engine_of(point)};
    if (is_baseline(point)) return;
    const GpuEngine gpu = *engine_for(point).gpu;
    if (gpu == GpuEngine::host_driven)
        throw Skipped{"a graph cannot hold the host, which is in the loop of " + engine_of(point)};
    if (gpu == GpuEngine::staged && copy_engine(point) > 0)
        throw Skipped{
            "a graph cannot hold the numbers that copy engines count on with: leave out `copy_engine`, and a "
            "kernel plays it"};
}

PreparedCase Preparer::prepare(const Case& point, std::int64_t operations) {
    PreparedCase prepared;
    check_mode(point);
    if (point.algorithm.id == Mpi::id) {
        prepare_mpi(point, prepared);
    } else if (point.algorithm.id == Nccl::id) {
        prepare_nccl(point, operations, prepared);
    } else {
        prepare_schedule(point, operations, prepared);
    }
    return prepared;
}

void Preparer::prepare_mpi(const Case& point, PreparedCase& prepared) {
    std::string reason = Mpi::unsupported(point.dtype, point.op, point.count);
    if (bootstrap_.shares_address_space()) reason = "MPI needs ranks in processes of their own";
    if (!reason.empty()) throw Skipped{reason};
    prepared.traced = false;
    prepared.note = Mpi::addition(point.dtype, point.op);
    prepared.collective = Mpi::prepare(point.dtype, point.op, point.count, bootstrap_.size());
}

/// Ranks that are threads take GPUs in turn, and NCCL wants one for each; those of processes were checked.
/// Its buffers lie in the arena like everybody's, or where NCCL wants them for a symmetric window.
void Preparer::prepare_nccl(const Case& point, std::int64_t operations, PreparedCase& prepared) {
    std::string reason = Nccl::unsupported(
        point.algorithm, point.dtype, point.op, point.count,
        engines_.cuda != nullptr && !bootstrap_.shares_address_space() ? 1
                                                                       : std::ssize(bootstrap_.local_ranks())
    );
    const bool rounds_factor = Nccl::rounds_factor(point.dtype, point.op, bootstrap_.size());
    if (rounds_factor && size_of(point.dtype) == 1)
        reason = "NCCL multiplies by a rounded 1/N, and 8 bits leave nothing to hold the result to";
    bootstrap::agree(bootstrap_, [&] {  // GPUs may be of different kinds
        if (!reason.empty()) throw Skipped{reason};
    });
    check_usable(Nccl::id, engines_.cuda, engines_.without_cuda);
    check_usable(Nccl::id, engines_.nccl, engines_.without_nccl);
    prepared.traced = false;
    prepared.user_bytes = device_bytes(point, operations);
    const engine::cuda::PreparedOnGpu on_gpu = engines_.cuda->prepare(
        {.dtype = point.dtype,
         .op = point.op,
         .mode = point.mode,
         .bytes = point.bytes,
         .user_bytes = prepared.user_bytes}
    );
    prepared.empty_ns = static_cast<double>(on_gpu.empty_ns);
    prepared.user_memory = point.algorithm.word("window").empty()
                               ? on_gpu.user_memory
                               : engines_.nccl->symmetric_memory(point.algorithm, prepared.user_bytes);
    baseline::PreparedNccl nccl =
        engines_.nccl->prepare(point.algorithm, point.dtype, point.op, point.count, point.mode);
    prepared.chosen = std::move(nccl.chosen);
    if (rounds_factor) {
        prepared.verify = VerifyMode::real;
        prepared.note = "verified within rounding errors: NCCL multiplies by 1/N and then sums";
    }
    prepared.collective = std::move(nccl.collective);
}

void Preparer::prepare_schedule(const Case& point, std::int64_t operations, PreparedCase& prepared) {
    if (!reduce::has(point.dtype)) {
        throw Skipped{
            "engine " + engine_of(point) + " has no " + std::string{name_of(point.dtype)} + ": only " +
            Nccl::id + " reduces it"};
    }
    const ringscope_algorithm& algorithm = algorithm_of(point);
    check_alone(point);
    prepared.protocol = name_of(static_cast<Protocol>(algorithm.protocol));
    prepared.plan = plan(point);
    if (prepared.plan && engines_.tamper) engines_.tamper(point, *prepared.plan);
    if (prepared.plan) {
        prepared.protocol = name_of(prepared.plan->request.link.protocol);
        prepared.declared = schedule::declared_traffic(*prepared.plan);
        prepared.closed_form = schedule::closed_form_traffic(algorithm, prepared.plan->request);
    } else {
        prepared.declared = {schedule::LinkBytes{1}, schedule::LinkBytes{1}};
        prepared.traced = false;
    }
    if (on_device(point)) {
        prepare_on_gpu(point, operations, prepared);
    } else {
        prepare_on_host(point, operations, prepared);
    }
}

void Preparer::prepare_on_gpu(const Case& point, std::int64_t operations, PreparedCase& prepared) {
    check_usable(engine_of(point), engines_.cuda, engines_.without_cuda);
    if (prepared.plan) {
        const std::string reason = engines_.cuda->unsupported(prepared.plan->request.link.protocol);
        if (!reason.empty()) throw Skipped{reason};
    }
    prepared.user_bytes = device_bytes(point, operations);
    engine::cuda::PreparedOnGpu on_gpu = engines_.cuda->prepare(
        {.engine = *engine_for(point).gpu,
         .plan = prepared.plan ? &*prepared.plan : nullptr,
         .copy_engines = prepared.plan && by_copy_engines(point, prepared.plan->request.link.protocol),
         .dtype = point.dtype,
         .op = point.op,
         .mode = point.mode,
         .bytes = point.bytes,
         .user_bytes = prepared.user_bytes,
         .threads = static_cast<std::int32_t>(point.algorithm.param("threads", 0))}
    );
    prepared.empty_ns = static_cast<double>(on_gpu.empty_ns);
    prepared.user_memory = on_gpu.user_memory;
    prepared.collective = std::move(on_gpu.collective);
    if (prepared.plan) describe_ways(point, prepared);
}

/// A kernel's channels are side by side; copy engines have a stream for receives and one for sends; the host
/// does one thing after the other.
void Preparer::describe_ways(const Case& point, PreparedCase& prepared) const {
    const schedule::PlanRequest& request = prepared.plan->request;
    const bool copies = by_copy_engines(point, request.link.protocol);
    const GpuEngine gpu = *engine_for(point).gpu;
    if (gpu != GpuEngine::host_driven) prepared.side_by_side = copies ? 2 : request.channels;
    if (gpu != GpuEngine::staged) return;
    prepared.note = copies ? "by copy engines" : "by a kernel";
    if (copy_engine(point) > 0 && !copies)
        prepared.note +=
            ", for streams of these GPUs cannot wait for counters, or too many ranks share a GPU";
}

/// The plugin's own kernel where it brings one, else the interpreter.
void Preparer::prepare_on_host(const Case& point, std::int64_t operations, PreparedCase& prepared) {
    if (!prepared.plan) {
        prepared.collective = std::make_unique<engine::LocalCopy>(point.bytes);
        return;
    }
    const ringscope_algorithm& algorithm = algorithm_of(point);
    const void* extension =
        algorithm.get_extension == nullptr ? nullptr : algorithm.get_extension(RINGSCOPE_HOST_KERNEL);
    if (extension == nullptr) return prepare_interpreter(point, operations, prepared);
    prepared.traced = false;
    prepared.collective = engines_.host.prepare_kernel(
        *static_cast<const ringscope_host_kernel*>(extension), point.count, point.dtype, point.op
    );
}

void Preparer::prepare_interpreter(const Case& point, std::int64_t operations, PreparedCase& prepared) {
    const schedule::PlanRequest& request = prepared.plan->request;
    const bool direct = request.link.protocol == Protocol::simple && request.direct != schedule::Direct::none;
    engine::host::PreparedOnHost on_host = engines_.host.prepare(
        key_of(point.algorithm, request), *prepared.plan, point.dtype, point.op,
        direct ? HostBuffers::bytes_needed(point, operations) : 0
    );
    prepared.user_memory = on_host.user_memory;
    prepared.collective = std::move(on_host.collective);
    if (direct && prepared.user_memory == nullptr)
        prepared.note = "all through slots, for there is too little shared memory for the user buffers";
}

}  // namespace ringscope::bench
