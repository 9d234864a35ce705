// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/rows.hpp"

/// Small made-up runs, and a folder of its own for each test.
namespace ringscope::trace::testing {

class Folder {
 public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "ringscope-trace-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
    std::filesystem::path path_;
};

inline constexpr std::int64_t epoch_ns = 5'000'000'000'000;

inline RunInfo run_info() {
    RunInfo run;
    run.resolved_config = "version: 1\nname: größe\n";
    run.config_sha256 = std::string(64, 'a');
    run.command_line = "ringscope run quickstart.yaml";
    run.creator_version = "0.1.0";
    run.run_uuid = "6b1c3f5e-0000-4000-8000-000000000001";
    run.file_time = "2025-01-01T00:00:00+00:00";
    run.seed = -7;
    run.world_size = 2;
    run.epoch_monotonic_ns = epoch_ns;
    run.epoch_realtime_ns = 1'735'689'600'000'000'000;
    run.ranks = {
        {0, "node", "boot", 100, "0-3,8", 0, "", "", ""}, {1, "node", "boot", 101, "4", -1, "GPU", "u", "p"}};
    run.facts = {{"kernel", "6.1"}, {"compiler", std::string(500, 'x')}};
    run.topology = "<topology>\n" + std::string(200'000, ' ') + "</topology>\n";
    return run;
}

/// `count` events, one every 10 ns; each field but the enumerations differs from the others of its row.
inline std::vector<EventRow> events(std::int64_t count) {
    std::vector<EventRow> rows(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        EventRow& row = rows[static_cast<std::size_t>(i)];
        const auto small = static_cast<std::int32_t>(i % 1000);
        row.case_index = small + 1, row.iteration = i + 2, row.rank = small + 3, row.channel = small + 4;
        row.slice = i + 5, row.op = i + 6, row.step = small + 7, row.phase = small % 4;
        row.direction = i % 2 == 0 ? Direction::send : Direction::recv;
        row.peer = small + 8, row.seq = i + 9, row.chunk = small + 10;
        row.payload_bytes = i + 11, row.wire_bytes = i + 12;
        row.begin_ns = epoch_ns + 10 * i, row.ready_ns = row.begin_ns + 1, row.end_ns = row.begin_ns + 2;
        row.posted_ns = row.begin_ns + 3;
        row.wait_data_ns = i + 13, row.wait_credit_ns = i + 14;
        row.begin_ticks = i + 15, row.ready_ticks = i + 16, row.end_ticks = i + 17;
    }
    return rows;
}

inline CaseRow case_row(std::int32_t index) {
    CaseRow row;
    row.case_index = index;
    row.algorithm = "ring-simple", row.engine = "host-shm", row.protocol = "simple";
    row.bytes = 4096, row.count = 1024, row.offset = 1, row.channels = 2, row.slots = 8;
    row.slot_bytes = 65536, row.slices = 3, row.wrong = 4;
    row.output_hash = 0xfedcba9876543210U;
    row.trace_overhead = 0.25, row.noise_floor = 0.125;
    row.events_expected = 30, row.events_written = 20, row.events_dropped = 10;
    return row;
}

/// Every whole number is another one.
inline HealthRow health_row() {
    return {
        .case_index = 1,
        .rank = 2,
        .device = "0000:17:00.0",
        .time_ns = epoch_ns + 3,
        .link_gts = 32.5,
        .link_width = 4,
        .path_gbps = 63.5,
        .aer_correctable = 5,
        .aer_nonfatal = 6,
        .aer_fatal = 7,
        .xids = 8,
        .sm_clock_mhz = 9,
        .throttle = "power_brake",
        .throttled_ns = 10,
        .temperature_c = 11,
        .power_w = 300.5};
}

}  // namespace ringscope::trace::testing
