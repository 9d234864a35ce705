// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

#include "base/error.hpp"
#include "tests/trace/reading.hpp"
#include "tests/trace/samples.hpp"
#include "trace/output_file.hpp"
#include "trace/tables.hpp"

namespace ringscope::trace {
namespace {

using namespace testing;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write_text_file(const std::string& path, const std::string& text) {
    std::ofstream{path} << text;
}

std::string content_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

/// Expects that `work` fails with exit code output and words that help.
void expect_output_error(const std::function<void()>& work, const std::string& words) {
    try {
        work();
        ADD_FAILURE() << "nothing was thrown; expected: " << words;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        EXPECT_THAT(error.what(), HasSubstr(words));
    }
}

/// A finished file with what `fill` appends.
Id written(const Folder& folder, const std::function<void(TraceWriter&)>& fill) {
    TraceWriter writer{folder.file("run.h5"), run_info(), false};
    fill(writer);
    writer.finish(false);
    return open(folder.file("run.h5"));
}

TEST(writer, root_attributes_tell_the_run) {
    const Folder folder;
    const Id file = written(folder, [](TraceWriter&) {});
    EXPECT_EQ(text_attribute(file, "schema_name"), "ringscope-trace");
    EXPECT_EQ(text_attribute(file, "schema_version"), "1.3.0");
    EXPECT_EQ(text_attribute(file, "creator"), "ringscope");
    EXPECT_EQ(text_attribute(file, "creator_version"), "0.1.0");
    EXPECT_EQ(text_attribute(file, "file_time"), "2025-01-01T00:00:00+00:00");
    EXPECT_EQ(text_attribute(file, "run_uuid"), run_info().run_uuid);
    EXPECT_EQ(text_attribute(file, "batch_uuid"), "");
    EXPECT_EQ(text_attribute(file, "source"), "measured");
    EXPECT_EQ(root_integer(file, "seed"), -7);
    EXPECT_EQ(root_integer(file, "launch_index"), 0);
    EXPECT_EQ(root_integer(file, "world_size"), 2);
    EXPECT_EQ(root_integer(file, "epoch_monotonic_ns"), epoch_ns);
    EXPECT_EQ(root_integer(file, "epoch_realtime_ns"), 1'735'689'600'000'000'000);
    EXPECT_EQ(root_integer(file, "complete"), 1);
    EXPECT_EQ(root_integer(file, "recovered"), 0);
    EXPECT_EQ(root_integer(file, "lossy"), 0);
}

TEST(writer, config_and_environment_read_back) {
    const Folder folder;
    const Id file = written(folder, [](TraceWriter&) {});
    EXPECT_THAT(texts(file, "/config/resolved"), ElementsAre("version: 1\nname: größe\n"));
    EXPECT_THAT(texts(file, "/config/original"), ElementsAre(""));
    EXPECT_THAT(texts(file, "/config/sha256"), ElementsAre(std::string(64, 'a')));
    EXPECT_THAT(texts(file, "/config/command_line"), ElementsAre("ringscope run quickstart.yaml"));
    EXPECT_THAT(integers(file, "/environment/rank"), ElementsAre(0, 1));
    EXPECT_THAT(texts(file, "/environment/host"), ElementsAre("node", "node"));
    EXPECT_THAT(texts(file, "/environment/boot_id"), ElementsAre("boot", "boot"));
    EXPECT_THAT(integers(file, "/environment/pid"), ElementsAre(100, 101));
    EXPECT_THAT(texts(file, "/environment/cpuset"), ElementsAre("0-3,8", "4"));
    EXPECT_THAT(integers(file, "/environment/numa_node"), ElementsAre(0, -1));
    EXPECT_THAT(texts(file, "/environment/gpu_name"), ElementsAre("", "GPU"));
    EXPECT_THAT(texts(file, "/environment/gpu_uuid"), ElementsAre("", "u"));
    EXPECT_THAT(texts(file, "/environment/gpu_pci_id"), ElementsAre("", "p"));
    EXPECT_THAT(texts(file, "/environment/facts/name"), ElementsAre("kernel", "compiler"));
    EXPECT_THAT(texts(file, "/environment/facts/value"), ElementsAre("6.1", std::string(500, 'x')));
}

TEST(writer, case_rows_read_back) {
    const Folder folder;
    CaseRow second = case_row(1);
    second.dtype = DataType::bfloat16, second.op = ReduceOp::max, second.mode = Mode::back_to_back;
    second.in_place = true, second.status = CaseStatus::timeout, second.reason = "rank 1 waited";
    second.trace_overhead = std::numeric_limits<double>::quiet_NaN();
    const Id file = written(folder, [&](TraceWriter& writer) { writer.append({case_row(0), second}); });
    EXPECT_THAT(integers(file, "/cases/row"), ElementsAre(0, 1));
    EXPECT_THAT(integers(file, "/cases/case"), ElementsAre(0, 1));
    EXPECT_THAT(texts(file, "/cases/algorithm"), Each("ring-simple"));
    EXPECT_THAT(texts(file, "/cases/engine"), Each("host-shm"));
    EXPECT_THAT(texts(file, "/cases/protocol"), Each("simple"));
    EXPECT_THAT(integers(file, "/cases/bytes"), Each(4096));
    EXPECT_THAT(integers(file, "/cases/count"), Each(1024));
    EXPECT_THAT(texts(file, "/cases/dtype"), ElementsAre("float32", "bfloat16"));
    EXPECT_THAT(texts(file, "/cases/op"), ElementsAre("sum", "max"));
    EXPECT_THAT(integers(file, "/cases/in_place"), ElementsAre(0, 1));
    EXPECT_THAT(integers(file, "/cases/offset"), Each(1));
    EXPECT_THAT(texts(file, "/cases/mode"), ElementsAre("isolated", "back-to-back"));
    EXPECT_THAT(integers(file, "/cases/channels"), Each(2));
    EXPECT_THAT(integers(file, "/cases/slots"), Each(8));
    EXPECT_THAT(integers(file, "/cases/slot_bytes"), Each(65536));
    EXPECT_THAT(integers(file, "/cases/slices"), Each(3));
    EXPECT_THAT(texts(file, "/cases/status"), ElementsAre("ok", "timeout"));
    EXPECT_THAT(texts(file, "/cases/reason"), ElementsAre("", "rank 1 waited"));
    EXPECT_THAT(integers(file, "/cases/wrong"), Each(4));
    EXPECT_THAT(
        read<std::uint64_t>(file, "/cases/output_hash", H5T_NATIVE_UINT64), Each(0xfedcba9876543210U)
    );
    EXPECT_EQ(reals(file, "/cases/trace_overhead")[0], 0.25);
    EXPECT_TRUE(std::isnan(reals(file, "/cases/trace_overhead")[1]));
    EXPECT_THAT(reals(file, "/cases/noise_floor"), Each(0.125));
    EXPECT_THAT(integers(file, "/cases/events_expected"), Each(30));
    EXPECT_THAT(integers(file, "/cases/events_written"), Each(20));
    EXPECT_THAT(integers(file, "/cases/events_dropped"), Each(10));
}

TEST(writer, sample_rows_have_times_relative_to_the_epoch) {
    const Folder folder;
    const std::vector<SampleRow> rows{
        {3, 4, 1, SampleState::cold, false, 5, epoch_ns + 10, epoch_ns + 30, 77},
        {3, 5, 0, SampleState::aborted, true, 1, epoch_ns - 20, not_available, not_available}};
    const Id file = written(folder, [&](TraceWriter& writer) { writer.append(rows); });
    EXPECT_THAT(integers(file, "/samples/case"), ElementsAre(3, 3));
    EXPECT_THAT(integers(file, "/samples/iteration"), ElementsAre(4, 5));
    EXPECT_THAT(integers(file, "/samples/rank"), ElementsAre(1, 0));
    EXPECT_THAT(integers(file, "/samples/state"), ElementsAre(1, 4));
    EXPECT_THAT(integers(file, "/samples/traced"), ElementsAre(0, 1));
    EXPECT_THAT(integers(file, "/samples/ops"), ElementsAre(5, 1));
    EXPECT_THAT(integers(file, "/samples/enter_ns"), ElementsAre(10, -20));
    EXPECT_THAT(integers(file, "/samples/exit_ns"), ElementsAre(30, -1));
    EXPECT_THAT(integers(file, "/samples/device_ns"), ElementsAre(77, -1));
}

TEST(writer, state_names_stand_at_the_column) {
    const Folder folder;
    const Id file = written(folder, [](TraceWriter&) {});
    const Id state = dataset_of(file, "/samples/state");
    EXPECT_EQ(
        text_attribute(state, "flag_meanings"),
        "ok cold warmup late_start aborted verify_failed clock_moved throttled"
    );
    std::vector<std::uint8_t> values(8, 99);
    H5Aread(attribute_of(state, "flag_values"), H5T_NATIVE_UINT8, values.data());
    EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(text_attribute(dataset_of(file, "/events/direction"), "flag_meanings"), "send recv");
    EXPECT_EQ(
        text_attribute(dataset_of(file, "/events/phase"), "flag_meanings"),
        "reduce_scatter all_gather reduce broadcast"
    );
}

/// `start`, `start + step`, ...
std::vector<std::int64_t> counting(std::int64_t count, std::int64_t start, std::int64_t step = 1) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = start + static_cast<std::int64_t>(i) * step;
    return numbers;
}

TEST(writer, event_rows_of_one_batch_read_back) {
    const Folder folder;
    constexpr std::int64_t n = 1000;
    const Id file = written(folder, [](TraceWriter& writer) { writer.append(events(n)); });
    const std::vector<const char*> counted{
        "case",         "iteration",      "rank",        "channel",     "slice",         "op",
        "step",         "peer",           "seq",         "chunk",       "payload_bytes", "wire_bytes",
        "wait_data_ns", "wait_credit_ns", "begin_ticks", "ready_ticks", "end_ticks"};
    for (std::size_t i = 0; i < counted.size(); ++i)
        EXPECT_EQ(
            integers(file, std::string{"/events/"} + counted[i]),
            counting(n, static_cast<std::int64_t>(i) + 1)
        ) << counted[i];
    EXPECT_EQ(integers(file, "/events/begin_ns"), counting(n, 0, 10));
    EXPECT_EQ(integers(file, "/events/ready_ns"), counting(n, 1, 10));
    EXPECT_EQ(integers(file, "/events/end_ns"), counting(n, 2, 10));
    EXPECT_THAT(integers(file, "/events/phase")[7], 3);
    EXPECT_THAT(integers(file, "/events/direction")[7], 1);
}

TEST(writer, event_batches_across_chunks_keep_order) {
    const Folder folder;
    const std::vector<EventRow> all = events(150'000);
    const Id file = written(folder, [&](TraceWriter& writer) {
        for (std::size_t begin = 0; begin < all.size(); begin += 50'000) {
            const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
            writer.append(std::vector<EventRow>{first, first + 50'000});
            writer.finish_case(0);
        }
    });
    EXPECT_EQ(integers(file, "/events/row"), counting(150'000, 0));
    EXPECT_EQ(integers(file, "/events/seq"), counting(150'000, 9));
    EXPECT_EQ(integers(file, "/events/end_ns"), counting(150'000, 2, 10));
}

TEST(writer, traffic_cold_clock_and_machine_rows_read_back) {
    const Folder folder;
    const Id file = written(folder, [](TraceWriter& writer) {
        writer.append(std::vector<TrafficRow>{{1, 2, 3, 4, 5, 6, 7, 8}, {1, 3, 2, 4, 5, -1, -1, -1}});
        writer.append(std::vector<ColdRow>{{"mpi_init", 1, -1, 900}});
        writer.append(std::vector<ClockRow>{{1, 2, "device", "after", epoch_ns + 3, -12, 1.5, 40}});
        writer.append(std::vector<ClockExchangeRow>{{1, 2, "device", "during", 30, 31, 32}});
        writer.append(std::vector<MachineRow>{{"host-shm", 0, 1, 1024, 710, 1e9, 2e9, 3e9}});
    });
    const std::vector<const char*> columns{
        "case",           "src",         "dst",        "declared_payload", "declared_wire",
        "traced_payload", "traced_wire", "closed_form"};
    for (std::size_t i = 0; i < columns.size(); ++i)
        EXPECT_EQ(integers(file, std::string{"/traffic/"} + columns[i])[0], static_cast<std::int64_t>(i) + 1)
            << columns[i];
    EXPECT_THAT(integers(file, "/traffic/closed_form"), ElementsAre(8, -1));
    EXPECT_THAT(texts(file, "/cold/phase"), ElementsAre("mpi_init"));
    EXPECT_THAT(integers(file, "/cold/rank"), ElementsAre(1));
    EXPECT_THAT(integers(file, "/cold/case"), ElementsAre(-1));
    EXPECT_THAT(integers(file, "/cold/ns"), ElementsAre(900));
    EXPECT_THAT(integers(file, "/clock/rank"), ElementsAre(1));
    EXPECT_THAT(integers(file, "/clock/peer"), ElementsAre(2));
    EXPECT_THAT(texts(file, "/clock/clock"), ElementsAre("device"));
    EXPECT_THAT(integers(file, "/clock/time_ns"), ElementsAre(3));
    EXPECT_THAT(texts(file, "/clock/anchor"), ElementsAre("after"));
    EXPECT_THAT(integers(file, "/clock/offset_ns"), ElementsAre(-12));
    EXPECT_THAT(reals(file, "/clock/slope"), ElementsAre(1.5));
    EXPECT_THAT(integers(file, "/clock/error_bound_ns"), ElementsAre(40));
    EXPECT_THAT(texts(file, "/clock_exchanges/anchor"), ElementsAre("during"));
    EXPECT_THAT(integers(file, "/clock_exchanges/asked_ns"), ElementsAre(30));
    EXPECT_THAT(integers(file, "/clock_exchanges/answered_ns"), ElementsAre(31));
    EXPECT_THAT(integers(file, "/clock_exchanges/heard_ns"), ElementsAre(32));
    EXPECT_THAT(texts(file, "/machine/engine"), ElementsAre("host-shm"));
    EXPECT_THAT(integers(file, "/machine/src"), ElementsAre(0));
    EXPECT_THAT(integers(file, "/machine/dst"), ElementsAre(1));
    EXPECT_THAT(integers(file, "/machine/bytes"), ElementsAre(1024));
    EXPECT_THAT(integers(file, "/machine/latency_ns"), ElementsAre(710));
    EXPECT_THAT(reals(file, "/machine/bandwidth"), ElementsAre(1e9));
    EXPECT_THAT(reals(file, "/machine/copy_engine_bandwidth"), ElementsAre(2e9));
    EXPECT_THAT(reals(file, "/machine/reduction_rate"), ElementsAre(3e9));
}

TEST(writer, health_rows_read_back) {
    const Folder folder;
    const Id file = written(folder, [](TraceWriter& writer) {
        writer.append(std::vector<HealthRow>{health_row(), {.device = host_device, .time_ns = epoch_ns}});
    });
    const std::vector<const char*> counted{
        "case",      "rank", "time_ns",      "link_width",   "aer_correctable", "aer_nonfatal",
        "aer_fatal", "xids", "sm_clock_mhz", "throttled_ns", "temperature_c"};
    for (std::size_t i = 0; i < counted.size(); ++i)
        EXPECT_EQ(integers(file, std::string{"/health/"} + counted[i])[0], static_cast<std::int64_t>(i) + 1)
            << counted[i];
    EXPECT_THAT(texts(file, "/health/device"), ElementsAre("0000:17:00.0", "host"));
    EXPECT_THAT(texts(file, "/health/throttle"), ElementsAre("power_brake", ""));
    EXPECT_EQ(reals(file, "/health/link_gts")[0], 32.5);
    EXPECT_EQ(reals(file, "/health/path_gbps")[0], 63.5);
    EXPECT_EQ(reals(file, "/health/power_w")[0], 300.5);
    EXPECT_THAT(integers(file, "/health/aer_fatal"), ElementsAre(7, -1));
    EXPECT_TRUE(std::isnan(reals(file, "/health/link_gts")[1])) << "not known";
}

TEST(writer, topology_reads_back) {
    const Folder folder;
    const Id file = written(folder, [](TraceWriter&) {});
    EXPECT_THAT(texts(file, "/environment/topology/hwloc"), ElementsAre(run_info().topology));
}

TEST(writer, groups_without_rows_have_empty_columns) {
    const Folder folder;
    const Id file = written(folder, [](TraceWriter& writer) { writer.append(std::vector<EventRow>{}); });
    for (const char* column :
         {"/cases/case", "/samples/case", "/events/case", "/events/row", "/traffic/case", "/cold/ns",
          "/clock/rank", "/machine/src", "/health/case"})
        EXPECT_THAT(integers(file, column), IsEmpty()) << column;
}

TEST(writer, lossy_run_says_so) {
    const Folder folder;
    TraceWriter writer{folder.file("run.h5"), run_info(), false};
    writer.finish(true);
    EXPECT_EQ(root_integer(open(folder.file("run.h5")), "lossy"), 1);
}

TEST(writer, file_has_the_oldest_superblock) {
    const Folder folder;
    written(folder, [](TraceWriter&) {});
    // Format specification: an 8-byte signature, then the version of the superblock.
    EXPECT_EQ(content_of(folder.file("run.h5")).substr(0, 9), (std::string{"\x89HDF\r\n\x1a\n\0", 9}));
}

TEST(writer, final_name_appears_only_at_the_end) {
    const Folder folder;
    TraceWriter writer{folder.file("run.h5"), run_info(), false};
    writer.append(events(10));
    writer.finish_case(0);
    EXPECT_FALSE(std::filesystem::exists(folder.file("run.h5")));
    EXPECT_TRUE(std::filesystem::exists(folder.file("run.h5.partial")));
    writer.finish(false);
    EXPECT_TRUE(std::filesystem::exists(folder.file("run.h5")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("run.h5.partial")));
}

TEST(writer, unfinished_file_is_readable_and_incomplete) {
    const Folder folder;
    {
        TraceWriter writer{folder.file("run.h5"), run_info(), false};
        writer.append(events(10));
    }
    EXPECT_FALSE(std::filesystem::exists(folder.file("run.h5")));
    const Id file = open(folder.file("run.h5.partial"));
    EXPECT_EQ(root_integer(file, "complete"), 0);
    EXPECT_EQ(integers(file, "/events/seq"), counting(10, 9));
}

TEST(writer, use_after_finish_is_a_fault_of_the_program) {
    const Folder folder;
    TraceWriter writer{folder.file("run.h5"), run_info(), false};
    writer.finish(false);
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { writer.append(events(1)); }, [&] { writer.finish_case(0); },
             [&] { writer.finish(false); }}) {
        try {
            use();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::internal);
        }
    }
}

TEST(output, existing_file_is_kept_without_force) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    write_text_file(path, "precious");
    expect_output_error([&] { TraceWriter(path, run_info(), false); }, "--force");
    EXPECT_EQ(content_of(path), "precious");
    EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST(output, existing_file_is_replaced_with_force_at_the_end) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    write_text_file(path, "old");
    TraceWriter writer{path, run_info(), true};
    EXPECT_EQ(content_of(path), "old");
    writer.finish(false);
    EXPECT_EQ(root_integer(open(path), "complete"), 1);
}

TEST(output, file_that_appears_while_we_measure_is_kept) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    TraceWriter writer{path, run_info(), false};
    write_text_file(path, "precious");
    expect_output_error([&] { writer.finish(false); }, "--force");
    EXPECT_EQ(content_of(path), "precious");
    EXPECT_EQ(root_integer(open(path + ".partial"), "complete"), 1);
}

TEST(output, missing_directory_is_made) {
    const Folder folder;
    const std::string path = folder.file("a/b/run.h5");
    TraceWriter writer{path, run_info(), false};
    writer.finish(false);
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(output, directory_is_refused) {
    const Folder folder;
    expect_output_error([&] { TraceWriter(folder.file(""), run_info(), true); }, "is a directory");
}

TEST(output, empty_name_is_refused) {
    expect_output_error([] { TraceWriter("", run_info(), true); }, "--output");
}

TEST(output, device_is_refused) {
    expect_output_error([] { TraceWriter("/dev/null", run_info(), true); }, "not a regular file");
}

TEST(output, place_below_a_file_is_refused) {
    const Folder folder;
    write_text_file(folder.file("file"), "");
    expect_output_error(
        [&] { TraceWriter(folder.file("file/run.h5"), run_info(), false); }, folder.file("file")
    );
}

TEST(output, unwritable_directory_is_refused) {
    // Nobody, not even root, can make a file there.
    expect_output_error(
        [] { TraceWriter("/proc/self/run.h5", run_info(), false); }, "/proc/self/run.h5.partial"
    );
}

TEST(output, partial_file_of_a_crashed_run_is_replaced) {
    const Folder folder;
    write_text_file(folder.file("run.h5.partial"), "half a file");
    TraceWriter writer{folder.file("run.h5"), run_info(), false};
    writer.finish(false);
    EXPECT_EQ(root_integer(open(folder.file("run.h5")), "complete"), 1);
}

TEST(output, partial_file_of_a_running_run_is_refused) {
    const Folder folder;
    const std::string path = folder.file("run.h5");
    TraceWriter writer{path, run_info(), false};
    const pid_t child = ::fork();
    if (child == 0) {
        int code = 0;
        try {
            TraceWriter second{path, run_info(), true};
        } catch (const Error& error) {
            code = std::string{error.what()}.find("another run is writing") != std::string::npos ? 7 : 1;
        }
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    writer.append(events(5));
    writer.finish(false);
    EXPECT_EQ(integers(open(path), "/events/seq"), counting(5, 9));
}

TEST(output, more_than_the_disk_has_is_refused) {
    const Folder folder;
    expect_output_error([&] { require_space(folder.file("x"), std::int64_t{1} << 62); }, "bytes needed");
    EXPECT_NO_THROW(require_space(folder.file("x"), 1));
}

TEST(fitted, short_text_stays) {
    EXPECT_EQ(fitted("ring", 4), "ring");
}

TEST(fitted, long_text_ends_in_dots) {
    EXPECT_EQ(fitted("halving-doubling", 10), "halving...");
}

TEST(fitted, character_is_never_halved) {
    // "aé" is 61 c3 a9: six bytes leave room for three, and the second é would be halved.
    EXPECT_EQ(fitted("aéééé", 7), "aé...");
    EXPECT_EQ(fitted("ééééé", 7), "éé...");
}

}  // namespace
}  // namespace ringscope::trace
