// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/spill.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.hpp"
#include "tests/trace/samples.hpp"

namespace ringscope::trace {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const SpillOrigin origin{.is_log = false, .rank = 3, .run_uuid = "6b1c3f5e"};

/// Expects that `work` fails with exit code output and words that help.
void expect_error(const std::function<void()>& work, const std::string& words) {
    try {
        work();
        ADD_FAILURE() << "nothing was thrown; expected: " << words;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        EXPECT_THAT(error.what(), HasSubstr(words));
    }
}

std::string content_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void replace(const std::string& path, const std::string& content) {
    std::ofstream{path, std::ios::binary | std::ios::trunc} << content;
}

std::vector<RecordKind> kinds_in(const std::string& path) {
    SpillReader reader{path};
    std::vector<RecordKind> kinds;
    while (const auto record = reader.next()) kinds.push_back(record->kind);
    return kinds;
}

/// The first record of a spill with these rows.
template <typename Row>
std::vector<Row> through_a_spill(const std::vector<Row>& rows) {
    const Folder folder;
    SpillWriter{folder.file("x.spill"), origin}.append(std::span{rows});
    const auto record = SpillReader{folder.file("x.spill")}.next();
    return record ? record->as<Row>() : std::vector<Row>{};
}

TEST(row_bytes, events_come_back_field_by_field) {
    const std::vector<EventRow> rows = events(1000), back = through_a_spill(rows);
    ASSERT_THAT(back, SizeIs(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const EventRow &a = back[i], &b = rows[i];
        ASSERT_EQ(
            std::tie(
                a.case_index, a.iteration, a.rank, a.channel, a.slice, a.op, a.step, a.phase, a.direction,
                a.peer, a.seq, a.chunk, a.payload_bytes, a.wire_bytes, a.begin_ns, a.ready_ns, a.end_ns,
                a.posted_ns, a.wait_data_ns, a.wait_credit_ns, a.begin_ticks, a.ready_ticks, a.end_ticks
            ),
            std::tie(
                b.case_index, b.iteration, b.rank, b.channel, b.slice, b.op, b.step, b.phase, b.direction,
                b.peer, b.seq, b.chunk, b.payload_bytes, b.wire_bytes, b.begin_ns, b.ready_ns, b.end_ns,
                b.posted_ns, b.wait_data_ns, b.wait_credit_ns, b.begin_ticks, b.ready_ticks, b.end_ticks
            )
        );
    }
}

TEST(row_bytes, largest_and_smallest_numbers_come_back) {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = ~least;
    const auto back = through_a_spill<EventRow>(
        {{.iteration = least, .rank = -1, .seq = most}, {.iteration = most, .rank = 1, .seq = least}}
    );
    ASSERT_THAT(back, SizeIs(2));
    EXPECT_EQ(back[0].iteration, least);
    EXPECT_EQ(back[1].iteration, most);
    EXPECT_EQ(back[0].seq, most);
    EXPECT_EQ(back[1].seq, least);
    EXPECT_EQ(back[0].rank, -1);
}

TEST(row_bytes, cases_come_back_field_by_field) {
    CaseRow row = case_row(7);
    row.params = "slots=8", row.dtype = DataType::int32, row.op = ReduceOp::avg, row.in_place = true;
    row.mode = Mode::graph, row.status = CaseStatus::timeout, row.reason = "größer\nas\"said\"";
    row.trace_overhead_low = -1.5, row.trace_overhead_high = 2.5, row.event_cost_ns = 3.5;
    row.start_skew_ns = 4.5, row.causality_pairs = 5, row.causality_decisive = 6,
    row.causality_violations = 7;
    row.marks = "suspect";
    const auto back = through_a_spill<CaseRow>({case_row(1), row});
    ASSERT_THAT(back, SizeIs(2));
    const CaseRow &a = back[1], &b = row;
    EXPECT_EQ(
        std::tie(
            a.case_index, a.algorithm, a.engine, a.protocol, a.params, a.bytes, a.count, a.dtype, a.op,
            a.in_place, a.offset, a.mode, a.channels, a.slots, a.slot_bytes, a.slices, a.status, a.reason,
            a.wrong, a.output_hash
        ),
        std::tie(
            b.case_index, b.algorithm, b.engine, b.protocol, b.params, b.bytes, b.count, b.dtype, b.op,
            b.in_place, b.offset, b.mode, b.channels, b.slots, b.slot_bytes, b.slices, b.status, b.reason,
            b.wrong, b.output_hash
        )
    );
    EXPECT_EQ(
        std::tie(
            a.trace_overhead, a.trace_overhead_low, a.trace_overhead_high, a.noise_floor, a.event_cost_ns,
            a.start_skew_ns, a.events_expected, a.events_written, a.events_dropped, a.causality_pairs,
            a.causality_decisive, a.causality_violations, a.marks
        ),
        std::tie(
            b.trace_overhead, b.trace_overhead_low, b.trace_overhead_high, b.noise_floor, b.event_cost_ns,
            b.start_skew_ns, b.events_expected, b.events_written, b.events_dropped, b.causality_pairs,
            b.causality_decisive, b.causality_violations, b.marks
        )
    );
    EXPECT_TRUE(std::isnan(a.empty_kernel_ns));
}

TEST(row_bytes, small_rows_come_back) {
    const auto samples = through_a_spill<SampleRow>({{1, 2, 3, SampleState::throttled, true, 4, 5, 6, 7}});
    EXPECT_EQ(samples[0].case_index, 1);
    EXPECT_EQ(samples[0].iteration, 2);
    EXPECT_EQ(samples[0].rank, 3);
    EXPECT_EQ(samples[0].state, SampleState::throttled);
    EXPECT_TRUE(samples[0].traced);
    EXPECT_EQ(samples[0].ops, 4);
    EXPECT_EQ(samples[0].enter_ns, 5);
    EXPECT_EQ(samples[0].exit_ns, 6);
    EXPECT_EQ(samples[0].device_ns, 7);

    const auto traffic = through_a_spill<TrafficRow>({{1, 2, 3, 4, 5, 6, 7, 8}});
    EXPECT_EQ(traffic[0].case_index, 1);
    EXPECT_EQ(traffic[0].src, 2);
    EXPECT_EQ(traffic[0].dst, 3);
    EXPECT_EQ(traffic[0].declared_payload, 4);
    EXPECT_EQ(traffic[0].declared_wire, 5);
    EXPECT_EQ(traffic[0].traced_payload, 6);
    EXPECT_EQ(traffic[0].traced_wire, 7);
    EXPECT_EQ(traffic[0].closed_form, 8);

    const auto cold = through_a_spill<ColdRow>({{"mpi_init", 1, 2, 3}});
    EXPECT_EQ(cold[0].phase, "mpi_init");
    EXPECT_THAT(
        (std::vector<std::int64_t>{cold[0].rank, cold[0].case_index, cold[0].ns}), ElementsAre(1, 2, 3)
    );

    const auto clock = through_a_spill<ClockRow>({{1, 2, "device", "after", 3, 4, 1.5, 5}});
    EXPECT_EQ(clock[0].clock + clock[0].anchor, "deviceafter");
    EXPECT_EQ(clock[0].slope, 1.5);
    EXPECT_THAT(
        (std::vector<std::int64_t>{
            clock[0].rank, clock[0].peer, clock[0].time_ns, clock[0].offset_ns, clock[0].error_bound_ns}),
        ElementsAre(1, 2, 3, 4, 5)
    );

    const auto asked = through_a_spill<ClockExchangeRow>({{1, 2, "device", "during", 3, 4, 5}});
    EXPECT_EQ(asked[0].clock + asked[0].anchor, "deviceduring");
    EXPECT_THAT(
        (std::vector<std::int64_t>{
            asked[0].rank, asked[0].peer, asked[0].asked_ns, asked[0].answered_ns, asked[0].heard_ns}),
        ElementsAre(1, 2, 3, 4, 5)
    );

    const HealthRow one = testing::health_row();
    const auto health = through_a_spill<HealthRow>({one});
    const auto parts = [](const HealthRow& row) {
        return std::tie(
            row.case_index, row.rank, row.device, row.time_ns, row.link_gts, row.link_width, row.path_gbps,
            row.aer_correctable, row.aer_nonfatal, row.aer_fatal, row.xids, row.sm_clock_mhz, row.throttle,
            row.throttled_ns, row.temperature_c, row.power_w
        );
    };
    EXPECT_EQ(parts(health[0]), parts(one));

    const auto machine = through_a_spill<MachineRow>({{"cuda-p2p", 1, 2, 3, 4, 5, 6, 7}});
    EXPECT_EQ(machine[0].engine, "cuda-p2p");
    EXPECT_THAT(
        (std::vector<double>{
            static_cast<double>(machine[0].src), static_cast<double>(machine[0].dst),
            static_cast<double>(machine[0].bytes), static_cast<double>(machine[0].latency_ns),
            machine[0].bandwidth, machine[0].copy_engine_bandwidth, machine[0].reduction_rate}),
        ElementsAre(1, 2, 3, 4, 5, 6, 7)
    );
}

TEST(row_bytes, what_is_known_of_the_run_comes_back) {
    RunInfo run = run_info();
    run.original_config = "version: 1\n", run.batch_uuid = "batch", run.launch_index = 5;
    run.source = "simulated";
    const RunInfo back = through_a_spill<RunInfo>({run}).at(0);
    const auto all = [](const RunInfo& r) {
        return std::tie(
            r.resolved_config, r.original_config, r.config_sha256, r.command_line, r.creator_version,
            r.run_uuid, r.batch_uuid, r.file_time, r.launch_index, r.seed, r.world_size, r.source,
            r.epoch_monotonic_ns, r.epoch_realtime_ns, r.topology
        );
    };
    EXPECT_EQ(all(back), all(run));
    const auto ranks = through_a_spill(run.ranks);
    const auto words = [](const RankEnvironment& r) {
        return std::tie(
            r.rank, r.host, r.boot_id, r.pid, r.cpuset, r.numa_node, r.gpu_name, r.gpu_uuid, r.gpu_pci_id
        );
    };
    EXPECT_EQ(words(ranks.at(0)), words(run.ranks[0]));
    EXPECT_EQ(words(ranks.at(1)), words(run.ranks[1]));
    EXPECT_EQ(through_a_spill(run.facts).at(1).value, run.facts[1].value);
}

TEST(row_bytes, fewer_or_more_rows_than_announced_are_refused) {
    const std::vector<EventRow> rows = events(10);
    const std::string bytes = to_bytes(std::span{rows});
    for (const std::int64_t count :
         {std::int64_t{-1}, std::int64_t{9}, std::int64_t{11}, std::int64_t{1} << 60})
        expect_error([&] { (void)from_bytes<EventRow>(bytes, count); }, "damaged");
}

TEST(spill, tells_whose_it_is_and_has_records_in_order) {
    const Folder folder;
    const std::string path = folder.file("x.spill.3");
    SpillWriter writer{path, origin};
    const std::vector<EventRow> rows = events(5);
    const CaseRow one_case = case_row(4);
    writer.append(std::span{&one_case, 1});
    writer.append(std::span{rows});
    writer.finish_case(4);
    EXPECT_THAT(
        kinds_in(path), ElementsAre(RecordKind::cases, RecordKind::events, RecordKind::case_finished)
    );
    const SpillReader reader{path};
    EXPECT_FALSE(reader.origin().is_log);
    EXPECT_EQ(reader.origin().rank, 3);
    EXPECT_EQ(reader.origin().run_uuid, "6b1c3f5e");
}

TEST(spill, many_rows_are_several_records) {
    const Folder folder;
    const std::vector<EventRow> rows = events(65536 + 1);
    SpillWriter{folder.file("x.spill"), origin}.append(std::span{rows});
    SpillReader reader{folder.file("x.spill")};
    EXPECT_EQ(reader.next()->rows, 65536);
    EXPECT_EQ(reader.next()->as<EventRow>().at(0).seq, rows.back().seq);
    EXPECT_FALSE(reader.next());
}

TEST(spill, restart_forgets_the_rows_alone) {
    const Folder folder;
    const std::vector<EventRow> rows = events(5);
    SpillWriter writer{folder.file("x.spill"), origin};
    writer.append(std::span{rows});
    writer.restart();
    EXPECT_THAT(kinds_in(folder.file("x.spill")), IsEmpty());
    writer.append(std::span{rows});
    EXPECT_THAT(kinds_in(folder.file("x.spill")), ElementsAre(RecordKind::events));
}

TEST(spill, is_being_written_until_its_writer_is_gone) {
    const Folder folder;
    {
        const SpillWriter writer{folder.file("x.spill"), origin};
        EXPECT_TRUE(is_being_written(folder.file("x.spill")));
    }
    EXPECT_FALSE(is_being_written(folder.file("x.spill")));
}

/// Cut at every byte of its last record, a spill is what it was before that record.
TEST(spill, torn_at_any_byte_of_the_last_record) {
    const Folder folder;
    const std::string path = folder.file("x.spill");
    const std::vector<EventRow> rows = events(3);
    SpillWriter writer{path, origin};
    writer.append(std::span{rows});
    const std::size_t whole = content_of(path).size();
    writer.append(std::span{rows});
    const std::string all = content_of(path);
    for (std::size_t size = whole; size < all.size(); ++size) {
        replace(path, all.substr(0, size));
        SpillReader reader{path};
        ASSERT_TRUE(reader.next()) << size;
        ASSERT_FALSE(reader.next()) << size;
        ASSERT_EQ(reader.damaged_bytes(), static_cast<std::int64_t>(size - whole));
    }
}

/// One wrong bit anywhere in the last record is seen, the head included.
TEST(spill, one_wrong_bit_in_the_last_record) {
    const Folder folder;
    const std::string path = folder.file("x.spill");
    const std::vector<EventRow> rows = events(3);
    SpillWriter writer{path, origin};
    writer.append(std::span{rows});
    const std::size_t whole = content_of(path).size();
    writer.append(std::span{rows});
    const std::string all = content_of(path);
    for (std::size_t at = whole; at < all.size(); ++at) {
        std::string wrong = all;
        wrong[at] = static_cast<char>(wrong[at] ^ 4);
        replace(path, wrong);
        ASSERT_THAT(kinds_in(path), ElementsAre(RecordKind::events)) << at;
    }
}

TEST(spill, what_is_no_spill_is_refused_with_the_reason) {
    const Folder folder;
    const std::string path = folder.file("x.spill");
    { const SpillWriter writer{path, origin}; }
    const std::string good = content_of(path), line = good.substr(0, good.find('\n') + 1);
    const auto expect = [&](const std::string& content, const std::string& words) {
        replace(path, content);
        expect_error([&] { const SpillReader reader{path}; }, words);
    };
    expect("", "is empty");
    expect("\x89HDF\r\n and so on, longer than the line of a spill", "is no spill of ringscope");
    expect("ringscope", "is no spill of ringscope");
    expect(
        "ringscope spill 1 of ringscope-trace 1.9.0\n" + good.substr(line.size()),
        "is a spill of version `1 of"
    );
    expect(
        "ringscope spill 2 of ringscope-trace 1.3.0\n" + good.substr(line.size()),
        "convert it with the version"
    );
    expect(line, "damaged at its beginning");
    expect(good.substr(0, good.size() - 1), "damaged at its beginning");
    expect_error([&] { const SpillReader reader{folder.file("absent")}; }, "No such file");
    expect_error([&] { const SpillReader reader{folder.file(".")}; }, "not a regular file");
}

TEST(spill, earlier_ones_are_removed_and_nothing_else) {
    const Folder folder;
    for (const char* name : {"a.h5.spill", "a.h5.spill.0", "a.h5.spill.17"})
        const SpillWriter writer{folder.file(name), origin};
    for (const char* name : {"a.h5.spill.x", "a.h5.spill.", "b.h5.spill.0", "a.h5"})
        replace(folder.file(name), "x");
    remove_spills(folder.file("a.h5"));
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator{folder.file("")})
        left.push_back(entry.path().filename().string());
    EXPECT_THAT(left, ::testing::UnorderedElementsAre("a.h5.spill.x", "a.h5.spill.", "b.h5.spill.0", "a.h5"));
}

}  // namespace
}  // namespace ringscope::trace
