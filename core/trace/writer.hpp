// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/rows.hpp"

namespace ringscope::trace {

inline constexpr const char* schema_name = "ringscope-trace";
inline constexpr const char* schema_version = "1.2.0";

/// Writes one trace file, aside under `PATH.partial` until it is complete. Used by rank 0 alone, from one
/// thread.
///
/// Whatever fails throws Error with exit code output. After a failed write the writer touches the file no
/// more: what was flushed before stays in the partial file.
class TraceWriter {
 public:
    /// Opens the partial file and writes all that is known before the first measurement. Refuses an output
    /// that exists (unless `force`), that cannot be written, or that another run is writing; makes a missing
    /// directory.
    TraceWriter(std::string path, const RunInfo& run, bool force);

    /// Leaves an unfinished file under its partial name, closed and readable, with complete = 0.
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

    /// After each case: what was appended survives the end of the process from here on.
    void flush();

    /// Marks the file complete, makes it durable and gives it its final name. `lossy`: some events were
    /// dropped.
    void finish(bool lossy);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
    class Contents;

    [[nodiscard]] Contents& open_contents();
    template <typename Work>
    void guarded(const std::string& task, Work work);
    template <typename Row>
    void append_to(const char* group, const std::vector<Row>& rows);
    void close_unfinished() noexcept;
    void abandon() noexcept;

    std::string path_, partial_;
    bool force_;
    std::unique_ptr<Contents> contents_;  ///< none once finished or failed
};

}  // namespace ringscope::trace
