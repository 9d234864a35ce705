// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.hpp"

#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "trace/hdf5.hpp"
#include "trace/output_file.hpp"
#include "trace/tables.hpp"

namespace ringscope::trace {
namespace {

constexpr std::int64_t metadata_bytes = 1 << 20;  // room for the indices of the file, besides the rows

/// Rows of a chunk: what a reader unpacks to see one of them, and what each flush packs anew while it fills.
constexpr std::int64_t event_chunk = 4096;
constexpr std::int64_t sample_chunk = 512;
constexpr std::int64_t small_chunk = 64;

template <typename Row>
std::vector<ColumnSpec> specs_of(const Columns<Row>& columns) {
    std::vector<ColumnSpec> specs;
    for (const Column<Row>& column : columns) specs.push_back(column.spec);
    return specs;
}

/// A group of the file that takes rows of one kind.
template <typename Row>
class RowTable {
 public:
    RowTable(hid_t file, const std::string& group, std::int64_t chunk_rows, Columns<Row> columns)
        : columns_{std::move(columns)}, table_{file, group, chunk_rows, specs_of(columns_)} {}

    void append(const std::vector<Row>& rows) {
        table_.append(static_cast<std::int64_t>(rows.size()), [&](std::size_t column, std::byte* cells) {
            columns_[column].pack(rows, cells);
        });
    }

    [[nodiscard]] std::int64_t bytes_of(const std::vector<Row>& rows) const {
        return table_.bytes_of(static_cast<std::int64_t>(rows.size()));
    }

 private:
    Columns<Row> columns_;
    hdf5::Table table_;
};

std::string advice(const std::string& cause) {
    if (cause.find("lock") == std::string::npos)
        return "check the space and the permissions there, or choose another place with --output";
    const char* setting = std::getenv("HDF5_USE_FILE_LOCKING");
    return "on a file system without locks set HDF5_USE_FILE_LOCKING=BEST_EFFORT (now " +
           std::string{setting == nullptr ? "unset" : setting} + ") or choose another place with --output";
}

void write_attributes(hid_t root, const RunInfo& run) {
    using hdf5::set_attribute;
    set_attribute(root, "schema_name", schema_name);
    set_attribute(root, "schema_version", schema_version);
    set_attribute(root, "creator", "ringscope");
    set_attribute(root, "creator_version", run.creator_version);
    set_attribute(root, "file_time", run.file_time);
    set_attribute(root, "run_uuid", run.run_uuid);
    set_attribute(root, "batch_uuid", run.batch_uuid);
    set_attribute(root, "launch_index", run.launch_index);
    set_attribute(root, "seed", run.seed);
    set_attribute(root, "world_size", std::int64_t{run.world_size});
    set_attribute(root, "source", run.source);
    set_attribute(root, "epoch_monotonic_ns", run.epoch_monotonic_ns);
    set_attribute(root, "epoch_realtime_ns", run.epoch_realtime_ns);
    for (const char* verdict : {"complete", "recovered", "lossy"})
        set_attribute(root, verdict, std::int64_t{0});
}

void write_config(hid_t file, const RunInfo& run) {
    const hdf5::Handle config = hdf5::create_group(file, "/config");
    hdf5::write_text(
        config.get(), "resolved", run.resolved_config, "experiment with every value written out, YAML"
    );
    hdf5::write_text(config.get(), "original", run.original_config, "experiment as it was given");
    hdf5::write_text(config.get(), "sha256", run.config_sha256, "SHA-256 of `resolved`");
    hdf5::write_text(config.get(), "command_line", run.command_line, "command line of rank 0");
}

void write_environment(hid_t file, const RunInfo& run) {
    RowTable<RankEnvironment>{file, "/environment", small_chunk, rank_columns(run.ranks)}.append(run.ranks);
    RowTable<Fact>{file, "/environment/facts", small_chunk, fact_columns(run.facts)}.append(run.facts);
    const hdf5::Handle topology = hdf5::create_group(file, "/environment/topology");
    hdf5::write_text(
        topology.get(), "hwloc", run.topology, "topology of rank 0's host, XML of hwloc; or empty"
    );
}

}  // namespace

/// The open file.
class TraceWriter::Contents {
 public:
    explicit Contents(const std::string& partial) : file_{hdf5::create_file(partial)} {}

    /// Everything but the rows: they come as they are measured.
    void write_start(const RunInfo& run) {
        write_attributes(file_.get(), run);
        write_config(file_.get(), run);
        write_environment(file_.get(), run);
        tables_ = open_tables(file_.get(), run.epoch_monotonic_ns);
        flush();
    }

    template <typename Row>
    RowTable<Row>& table() {
        return std::get<RowTable<Row>>(*tables_);
    }

    void flush() { hdf5::flush(file_.get()); }

    void set_verdict(const char* name, bool value) {
        hdf5::change_attribute(file_.get(), name, std::int64_t{value});
    }

    void close() {
        flush();
        tables_.reset();
        hdf5::close_file(std::move(file_));
    }

 private:
    using Tables = std::tuple<
        RowTable<CaseRow>, RowTable<SampleRow>, RowTable<EventRow>, RowTable<TrafficRow>, RowTable<ColdRow>,
        RowTable<ClockRow>, RowTable<ClockExchangeRow>, RowTable<MachineRow>, RowTable<HealthRow>>;

    static std::unique_ptr<Tables> open_tables(hid_t file, std::int64_t epoch_ns) {
        return std::make_unique<Tables>(
            RowTable<CaseRow>{file, "/cases", small_chunk, case_columns()},
            RowTable<SampleRow>{file, "/samples", sample_chunk, sample_columns(epoch_ns)},
            RowTable<EventRow>{file, "/events", event_chunk, event_columns(epoch_ns)},
            RowTable<TrafficRow>{file, "/traffic", sample_chunk, traffic_columns()},
            RowTable<ColdRow>{file, "/cold", small_chunk, cold_columns()},
            RowTable<ClockRow>{file, "/clock", small_chunk, clock_columns(epoch_ns)},
            RowTable<ClockExchangeRow>{file, "/clock_exchanges", sample_chunk, clock_exchange_columns()},
            RowTable<MachineRow>{file, "/machine", small_chunk, machine_columns()},
            RowTable<HealthRow>{file, "/health", small_chunk, health_columns(epoch_ns)}
        );
    }

    hdf5::Handle file_;
    std::unique_ptr<Tables> tables_;  // declared after the file, so closed before it
};

TraceWriter::TraceWriter(std::string path, const RunInfo& run, bool force, Making making)
    : path_{std::move(path)}, partial_{partial_name(path_)}, run_uuid_{run.run_uuid}, force_{force} {
    refuse_existing(path_, force_);
    make_parent(path_);
    refuse_running(path_);
    remove_stale(partial_);
    require_space(partial_, metadata_bytes);
    hdf5::set_up();
    guarded("create", [&] {
        contents_ = std::make_unique<Contents>(partial_);
        contents_->write_start(run);
        if (making == Making::recovered) contents_->set_verdict("recovered", true);
    });
    if (making == Making::measured) open_log(run);
}

TraceWriter::~TraceWriter() {
    close_unfinished();
}

void TraceWriter::append(const std::vector<CaseRow>& rows) {
    append_to("/cases", rows);
}
void TraceWriter::append(const std::vector<SampleRow>& rows) {
    append_to("/samples", rows);
}
void TraceWriter::append(const std::vector<EventRow>& rows) {
    append_to("/events", rows);
}
void TraceWriter::append(const std::vector<TrafficRow>& rows) {
    append_to("/traffic", rows);
}
void TraceWriter::append(const std::vector<ColdRow>& rows) {
    append_to("/cold", rows);
}
void TraceWriter::append(const std::vector<ClockRow>& rows) {
    append_to("/clock", rows);
}
void TraceWriter::append(const std::vector<ClockExchangeRow>& rows) {
    append_to("/clock_exchanges", rows);
}
void TraceWriter::append(const std::vector<MachineRow>& rows) {
    append_to("/machine", rows);
}
void TraceWriter::append(const std::vector<HealthRow>& rows) {
    append_to("/health", rows);
}

/// Once the partial file is ours: of two runs that start at once, the other one is refused before this.
void TraceWriter::open_log(const RunInfo& run) {
    remove_spills(path_);
    log_.emplace(log_name(path_), SpillOrigin{.is_log = true, .rank = 0, .run_uuid = run.run_uuid});
    log_->append(std::span{&run, 1});
    log_->append(std::span{run.ranks});
    log_->append(std::span{run.facts});
}

void TraceWriter::begin_case(const CaseRow& row) {
    if (log_) log_->append(std::span{&row, 1});
}

void TraceWriter::finish_case(std::int32_t case_index) {
    if (log_) log_->finish_case(case_index);
    guarded("flush", [&] { open_contents().flush(); });
}

void TraceWriter::finish(bool lossy, Log log) {
    guarded("finish", [&] {
        open_contents().set_verdict("lossy", lossy);
        contents_->flush();
        contents_->set_verdict("complete", true);
        contents_->close();
        contents_.reset();
    });
    refuse_existing(path_, force_);  // another program may have put a file there while we measured
    publish(partial_, path_);
    if (log_ && log == Log::removed) log_->remove();
}

template <typename Row>
void TraceWriter::append_to(const char* group, const std::vector<Row>& rows) {
    RowTable<Row>& table = open_contents().table<Row>();
    require_space(partial_, table.bytes_of(rows) + metadata_bytes);
    if (log_) log_->append(std::span{rows});
    guarded(std::string{"write rows to "} + group + " of", [&] { table.append(rows); });
}

TraceWriter::Contents& TraceWriter::open_contents() {
    if (contents_) return *contents_;
    throw Error{
        ExitCode::internal,
        "nothing can be written to " + path_ + " after it was finished or a write failed"};
}

/// Turns what HDF5 throws into our error. `task` is what was being done to the file.
template <typename Work>
void TraceWriter::guarded(const std::string& task, Work work) {
    try {
        work();
    } catch (const hdf5::Failure& failure) {
        abandon();
        const std::string cause = failure.what();
        throw Error{
            ExitCode::output, "cannot " + task + " " + partial_ + ": " + cause + "; " + advice(cause)};
    }
}

void TraceWriter::close_unfinished() noexcept {
    if (!contents_) return;
    try {
        contents_->close();
        contents_.reset();
    } catch (const hdf5::Failure&) {
        abandon();
    }
}

void TraceWriter::abandon() noexcept {
    // HDF5 cannot close a file that it failed to write: it writes again, and crashes. So the open file is
    // kept, out of reach, until the process ends.
    static std::vector<std::unique_ptr<Contents>>& kept = *new std::vector<std::unique_ptr<Contents>>;
    kept.push_back(std::move(contents_));
}

}  // namespace ringscope::trace
