// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/prepare.hpp"

#include "baseline/mpi.hpp"
#include "engine/local_copy.hpp"

namespace ringscope::bench {
namespace {

constexpr std::int64_t default_slots = 8, default_slot_bytes = 65536;

std::string key_of(const AlgorithmChoice& algorithm) {
    std::string key = algorithm.id;
    for (const auto& [name, value] : algorithm.params) key += " " + name + "=" + std::to_string(value);
    return key;
}

PreparedCase prepare_mpi(const Case& point) {
    const std::string reason = baseline::Mpi::unsupported(point.dtype, point.op, point.count);
    if (!reason.empty()) throw Skipped{reason};
    PreparedCase prepared;
    prepared.traced = false;
    prepared.collective = baseline::Mpi::prepare(point.dtype, point.op, point.count);
    return prepared;
}

}  // namespace

std::string Preparer::engine_of(const Case& point) {
    return point.algorithm.id == baseline::Mpi::id ? "mpi" : engine::host::HostEngine::name;
}

std::optional<schedule::Plan> Preparer::plan(const Case& point) const {
    if (point.algorithm.id == baseline::Mpi::id || bootstrap_.size() == 1) return std::nullopt;
    const ringscope_algorithm& algorithm = *registry_.find(point.algorithm.id)->algorithm;
    return schedule::make_plan(
        algorithm, {.ranks = bootstrap_.size(),
                    .bytes = point.bytes,
                    .channels = static_cast<std::int32_t>(point.algorithm.param("channels", 1)),
                    .slots = point.algorithm.param("slots", default_slots),
                    .slot_bytes = point.algorithm.param("slot_bytes", default_slot_bytes),
                    .link = engine::host::HostEngine::format(static_cast<Protocol>(algorithm.protocol))}
    );
}

PreparedCase Preparer::prepare(const Case& point) {
    if (point.algorithm.id == baseline::Mpi::id) return prepare_mpi(point);
    const ringscope_algorithm& algorithm = *registry_.find(point.algorithm.id)->algorithm;
    PreparedCase prepared;
    prepared.protocol = name_of(static_cast<Protocol>(algorithm.protocol));
    prepared.plan = plan(point);
    if (!prepared.plan) {
        prepared.collective = std::make_unique<engine::LocalCopy>(point.bytes);
        prepared.declared = {schedule::LinkBytes{1}, schedule::LinkBytes{1}};
        prepared.traced = false;
        return prepared;
    }
    prepared.declared = schedule::declared_traffic(*prepared.plan);
    prepared.closed_form = schedule::closed_form_traffic(algorithm, prepared.plan->request);
    prepared.collective = collective(algorithm, point, prepared);
    return prepared;
}

/// The plugin's own kernel where it brings one, else the interpreter.
std::unique_ptr<engine::Collective> Preparer::collective(
    const ringscope_algorithm& algorithm, const Case& point, PreparedCase& prepared
) {
    const void* extension =
        algorithm.get_extension == nullptr ? nullptr : algorithm.get_extension(RINGSCOPE_HOST_KERNEL);
    if (extension == nullptr)
        return host_.prepare(key_of(point.algorithm), *prepared.plan, point.dtype, point.op);
    prepared.traced = false;
    return host_.prepare_kernel(
        *static_cast<const ringscope_host_kernel*>(extension), point.count, point.dtype, point.op
    );
}

}  // namespace ringscope::bench
