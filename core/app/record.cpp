// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "app/record.hpp"

#include <algorithm>
#include <cstring>
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
    const environment::Sources sources{.root = session.options().root};
    info.facts = environment::capture_facts(sources);
    const environment::Topology topology = environment::capture_topology(sources);
    info.topology = topology.xml;
    info.facts.push_back({"hwloc.version", topology.version});
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

void store_cold(Session& session, trace::TraceWriter* writer) {
    const std::vector<trace::ColdRow> mine = session.ladder().rows(session.bootstrap().rank());
    for (const std::string& bytes : session.bootstrap().gather(trace::pack(mine), 0))
        if (writer != nullptr) writer->append(trace::unpack<trace::ColdRow>(bytes));
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

namespace {

std::vector<std::vector<clock::Exchange>> gather_exchanges(
    bootstrap::Bootstrap& bootstrap, const std::vector<clock::Exchange>& mine
) {
    const std::string bytes{
        reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(clock::Exchange)};
    std::vector<std::vector<clock::Exchange>> all;
    for (const std::string& other : bootstrap.gather(bytes, 0)) {
        all.emplace_back(other.size() / sizeof(clock::Exchange));
        if (!other.empty()) std::memcpy(all.back().data(), other.data(), other.size());
    }
    return all;
}

/// Every GPU against the process of its rank.
void add_devices(Session& session, const std::string& anchor, bench::ClockRecord& record) {
    if (session.cuda() == nullptr) return;
    const auto all = gather_exchanges(session.bootstrap(), session.cuda()->ask_clock());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        trace::ClockRow row{
            .rank = static_cast<std::int32_t>(rank),
            .peer = static_cast<std::int32_t>(rank),
            .clock = "device",
            .anchor = anchor,
            .time_ns = now_ns()};
        const clock::Offset offset = clock::offset_of(all[rank]);
        row.offset_ns = offset.middle_ns();
        row.error_bound_ns = offset.error_ns();
        record.add(row, all[rank]);
    }
}

}  // namespace

bench::ClockRecord clocks_before(Session& session) {
    bench::ClockRecord record = bench::record_of(session.clocks(), session.first_comparison(), "before");
    add_devices(session, "before", record);
    return record;
}

bench::ClockRecord clocks_after(Session& session) {
    bench::ClockRecord record = bench::record_of(session.clocks(), session.clocks().compare(), "after");
    add_devices(session, "after", record);
    return record;
}

}  // namespace ringscope::app
