// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "app/record.hpp"

#include <algorithm>
#include <ctime>

#include "base/text.hpp"
#include "mpi/mpi.hpp"

namespace ringscope::app {
namespace {

/// How the sizes grow, as nccl-tests writes it.
std::string step_of(const std::vector<std::int64_t>& sizes) {
    if (sizes.size() < 2) return "0(bytes)";
    const std::int64_t first = std::max<std::int64_t>(sizes[0], 1), step = sizes[1] - sizes[0],
                       factor = sizes[1] / first;
    bool grows = true, multiplies = true;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        grows = grows && sizes[i] - sizes[i - 1] == step;
        multiplies = multiplies && sizes[i] == sizes[i - 1] * factor;
    }
    if (multiplies) return std::to_string(factor) + "(factor)";
    return grows ? std::to_string(step) + "(bytes)" : "list";
}

std::vector<trace::ColdRow> pack_cold(const ColdStart& cold, std::int32_t rank) {
    return {
        {"process_start", rank, -1, cold.process_start},
        {"mpi_init", rank, -1, cold.mpi_init},
        {"plugin_load", rank, -1, cold.plugin_load},
        {"bootstrap", rank, -1, cold.bootstrap}};
}

}  // namespace

trace::RunInfo run_info(const Experiment& experiment, const Arguments& arguments, const Session& session) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    trace::RunInfo info;
    info.resolved_config = experiment.resolved_text;
    info.original_config = experiment.original_text;
    info.config_sha256 = experiment.sha256;
    info.command_line = "ringscope " + join(arguments, " ");
    info.creator_version = environment::program_version();
    info.run_uuid = environment::run_uuid();
    info.batch_uuid = session.options().batch_uuid;
    info.launch_index = session.options().launch_index;
    info.seed = session.options().seed;
    info.file_time = environment::iso8601_now();
    info.world_size = static_cast<std::int32_t>(session.ranks().size());
    info.epoch_monotonic_ns = now_ns() - 1;
    info.epoch_realtime_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    info.ranks = session.ranks();
    info.facts = environment::capture_facts();
    info.facts.push_back({"mpi.library", mpi::library_version()});
    for (const trace::Fact& fact : environment::gpu_facts(session.versions())) info.facts.push_back(fact);
    return info;
}

report::RunHeader header_of(
    const Experiment& experiment, const std::vector<Case>& cases, const Session& session
) {
    report::RunHeader header;
    header.version = environment::program_version();
    header.name = experiment.name;
    header.ranks = session.ranks();
    const auto by_bytes = std::ranges::minmax_element(cases, {}, &Case::bytes);
    header.min_bytes = by_bytes.min->bytes;
    header.max_bytes = by_bytes.max->bytes;
    header.step = step_of(experiment.sizes);
    header.warmup = experiment.measure.warmup;
    header.iterations = experiment.measure.iterations;
    header.mode = cases.front().mode;
    header.statistic = report::statistic_of(header.mode, experiment.measure.iterations);
    header.both_places = experiment.in_place.size() == 2;
    if (session.oversubscribed()) {
        header.warning = std::to_string(session.ranks().size()) + " ranks on " +
                         std::to_string(distinct_cpus(session.ranks())) + " cores: times are no measurement";
    }
    header.output = experiment.output;
    return header;
}

void store_cold(Session& session, trace::TraceWriter* writer, std::int64_t first_collective) {
    const ColdStart& cold = session.cold();
    const std::string mine{reinterpret_cast<const char*>(&cold), sizeof(cold)};
    const std::vector<std::string> all = session.bootstrap().gather(mine, 0);
    if (writer == nullptr) return;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        ColdStart other;
        std::copy_n(all[rank].data(), sizeof(other), reinterpret_cast<char*>(&other));
        writer->append(pack_cold(other, static_cast<std::int32_t>(rank)));
    }
    if (first_collective != trace::not_available) {
        writer->append(std::vector<trace::ColdRow>{{"first_collective", 0, -1, first_collective}});
    }
}

std::vector<trace::Fact> staged_facts(Session& session) {
    std::vector<trace::Fact> facts;
    if (session.cuda() == nullptr) return facts;
    for (const std::int32_t node : session.cuda()->staged_numa_nodes()) {
        facts.push_back(
            {"staged.numa_node.rank" + std::to_string(facts.size()),
             node < 0 ? std::string{environment::unavailable} : std::to_string(node)}
        );
    }
    return facts;
}

std::vector<trace::ClockRow> clocks(Session& session, const std::string& anchor) {
    const engine::cuda::DeviceClock own =
        session.cuda() == nullptr ? engine::cuda::DeviceClock{} : session.cuda()->measure_clock();
    const std::string mine{reinterpret_cast<const char*>(&own), sizeof(own)};
    std::vector<trace::ClockRow> rows;
    for (const std::string& bytes : session.bootstrap().all_gather(mine)) {
        engine::cuda::DeviceClock clock;
        std::copy_n(bytes.data(), sizeof(clock), reinterpret_cast<char*>(&clock));
        rows.push_back(
            {.rank = static_cast<std::int32_t>(rows.size()),
             .anchor = anchor,
             .offset_ns = clock.offset_ns,
             .error_bound_ns = clock.error_bound_ns}
        );
    }
    return rows;
}

}  // namespace ringscope::app
