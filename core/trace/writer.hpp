// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/rows.hpp"
#include "trace/spill.hpp"

namespace ringscope::trace {

inline constexpr const char* schema_name = "ringscope-trace";
inline constexpr const char* schema_version = "1.3.0";

/// What a file is made of: a run that goes on, or what a crashed one left.
enum class Making : std::uint8_t { measured, recovered };

/// Writes one trace file, aside under `PATH.partial` until it is complete. Used by rank 0 alone, from one
/// thread.
///
/// A process that is killed while HDF5 writes may leave a partial file that nobody can read. So all rows of a
/// measured run go to a log first, `PATH.spill`, of which a file can be made again.
///
/// Whatever fails throws Error with exit code output. After a failed write the writer touches the file no
/// more: what was flushed before stays in the partial file.
class TraceWriter {
 public:
    /// Opens the partial file and writes all that is known before the first measurement. Refuses an output
    /// that exists (unless `force`), that cannot be written, or that another run is writing; makes a missing
    /// directory. What an earlier run left under these names is removed.
    TraceWriter(std::string path, const RunInfo& run, bool force, Making making = Making::measured);

    /// Leaves an unfinished file under its partial name, closed and readable, with complete = 0, and its log.
    ~TraceWriter();

    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    /// Adds rows in the given order. Refuses beforehand if the disk has no room for them.
    void append(const std::vector<CaseRow>& rows);
    void append(const std::vector<SampleRow>& rows);
    void append(const std::vector<EventRow>& rows);
    void append(const std::vector<TrafficRow>& rows);
    void append(const std::vector<ColdRow>& rows);
    void append(const std::vector<ClockRow>& rows);
    void append(const std::vector<ClockExchangeRow>& rows);
    void append(const std::vector<MachineRow>& rows);
    void append(const std::vector<HealthRow>& rows);

    /// Lets the log know of a case that begins; a later row of the same case replaces this one.
    void begin_case(const CaseRow& row);

    /// After the last row of a case: it survives the end of the process from here on.
    void finish_case(std::int32_t case_index);

    /// Marks the file complete, makes it durable and gives it its final name. `lossy`: some events were
    /// dropped. The log goes, unless ranks may have left something that belongs to it.
    enum class Log : std::uint8_t { removed, kept };
    void finish(bool lossy, Log log = Log::removed);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] const std::string& run_uuid() const noexcept { return run_uuid_; }

 private:
    class Contents;

    [[nodiscard]] Contents& open_contents();
    template <typename Work>
    void guarded(const std::string& task, Work work);
    template <typename Row>
    void append_to(const char* group, const std::vector<Row>& rows);
    void open_log(const RunInfo& run);
    void close_unfinished() noexcept;
    void abandon() noexcept;

    std::string path_, partial_, run_uuid_;
    bool force_;
    std::unique_ptr<Contents> contents_;  ///< none once finished or failed
    std::optional<SpillWriter> log_;      ///< of a measured run
};

}  // namespace ringscope::trace
