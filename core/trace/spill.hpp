// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/descriptor.hpp"
#include "trace/row_bytes.hpp"
#include "trace/rows.hpp"

/// A spill: rows in a file that is only ever appended to, so that it can be read up to its last whole record
/// whatever happened to its writer. After a line of text that names the format come records: a head, then the
/// rows as bytes. Everything that fails throws Error with exit code output.
namespace ringscope::trace {

/// What a record holds: rows of one type, or the word that a case is finished (its number instead of a row
/// count, and no rows).
enum class RecordKind : std::uint32_t {
    origin,
    run,
    environment,
    fact,
    cases,
    samples,
    events,
    traffic,
    cold,
    clock,
    clock_exchanges,
    machine,
    health,
    case_finished
};

/// Whose spill it is: the log of rank 0, which has all finished cases, or what a rank has of the running one.
struct SpillOrigin {
    bool is_log = false;
    std::int32_t rank = 0;
    std::string run_uuid;
};

/// Of the log of a run that writes `path`.
[[nodiscard]] std::string log_name(const std::string& path);
/// Of what a rank of that run had to put aside.
[[nodiscard]] std::string spill_name(const std::string& path, std::int32_t rank);
/// Removes the log and the spills that an earlier run left beside `path`.
void remove_spills(const std::string& path);
/// Whether a running process still writes this spill.
[[nodiscard]] bool is_being_written(const std::string& spill);

class SpillWriter {
 public:
    /// Replaces a file of this name.
    SpillWriter(std::string path, const SpillOrigin& origin);

    /// One record for every 65536 rows. On return they survive the end of this process.
    template <typename Row>
    void append(std::span<const Row> rows);
    /// Says that all rows of a case are there.
    void finish_case(std::int32_t case_index);

    /// Forgets all rows.
    void restart();
    void remove();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
    void write_record(RecordKind kind, std::int64_t rows, const std::string& bytes);
    void write(const std::string& bytes);

    std::string path_;
    Descriptor file_;
    std::int64_t start_ = 0;  ///< where the rows begin
    bool failed_ = false;
};

struct Record {
    RecordKind kind = RecordKind::origin;
    std::int64_t rows = 0;
    std::string bytes;

    template <typename Row>
    [[nodiscard]] std::vector<Row> as() const {
        return from_bytes<Row>(bytes, rows);
    }
};

class SpillReader {
 public:
    /// Refuses what is no spill, or of another version.
    explicit SpillReader(std::string path);

    [[nodiscard]] const SpillOrigin& origin() const { return origin_; }
    /// The next whole record behind the origin; nothing at the end, and at the first damage.
    [[nodiscard]] std::optional<Record> next();
    /// Bytes behind the last whole record, once next() gave nothing.
    [[nodiscard]] std::int64_t damaged_bytes() const { return size_ - at_; }
    /// Begins again.
    void rewind() { at_ = start_; }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
    void check_format() const;
    [[nodiscard]] bool read(std::int64_t at, void* bytes, std::int64_t count) const;

    std::string path_;
    Descriptor file_;
    std::int64_t size_ = 0, start_ = 0, at_ = 0;
    SpillOrigin origin_;
};

}  // namespace ringscope::trace
