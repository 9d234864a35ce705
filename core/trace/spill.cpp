// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/spill.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "trace/writer.hpp"

namespace ringscope::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_rows = 65536;  // of a record: what a reader holds at a time
constexpr std::uint32_t record_magic = 0x52535052;
constexpr std::string_view format_word = "ringscope spill ";

/// The rows have the fields of the schema, so both versions make the format.
std::string format_line() {
    return std::string{format_word} + "1 of " + schema_name + " " + schema_version + "\n";
}

struct Head {
    std::uint32_t magic = record_magic;
    RecordKind kind = RecordKind::origin;
    std::int64_t rows = 0, bytes = 0;
    std::uint64_t checksum = 0;
};
static_assert(sizeof(Head) == 32);

/// Of the bytes, and of what the head says about them.
std::uint64_t checksum_of(const Head& head, const std::string& bytes) {
    const std::uint64_t said[] = {
        static_cast<std::uint64_t>(head.kind), static_cast<std::uint64_t>(head.rows)};
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), XXH3_64bits(said, sizeof said));
}

template <typename Row>
constexpr RecordKind kind_of = RecordKind::origin;
template <>
constexpr RecordKind kind_of<RunInfo> = RecordKind::run;
template <>
constexpr RecordKind kind_of<RankEnvironment> = RecordKind::environment;
template <>
constexpr RecordKind kind_of<Fact> = RecordKind::fact;
template <>
constexpr RecordKind kind_of<CaseRow> = RecordKind::cases;
template <>
constexpr RecordKind kind_of<SampleRow> = RecordKind::samples;
template <>
constexpr RecordKind kind_of<EventRow> = RecordKind::events;
template <>
constexpr RecordKind kind_of<TrafficRow> = RecordKind::traffic;
template <>
constexpr RecordKind kind_of<ColdRow> = RecordKind::cold;
template <>
constexpr RecordKind kind_of<ClockRow> = RecordKind::clock;
template <>
constexpr RecordKind kind_of<ClockExchangeRow> = RecordKind::clock_exchanges;
template <>
constexpr RecordKind kind_of<MachineRow> = RecordKind::machine;
template <>
constexpr RecordKind kind_of<HealthRow> = RecordKind::health;

[[noreturn]] void fail(const std::string& message) {
    throw Error{ExitCode::output, message};
}

/// Fails with the reason that the last system call gave.
[[noreturn]] void fail_system(const std::string& what, const std::string& advice) {
    fail(what + ": " + std::generic_category().message(errno) + "; " + advice);
}

constexpr const char* choose =
    "check the space and the permissions there, or choose another place with --output";

std::string pack(const SpillOrigin& origin) {
    ByteWriter bytes;
    bytes.number(origin.is_log ? 1 : 0);
    bytes.integer(origin.rank);
    bytes.text(origin.run_uuid);
    return bytes.take();
}

SpillOrigin unpack(const std::string& bytes) {
    ByteReader reader{bytes};
    SpillOrigin origin;
    origin.is_log = reader.number() != 0;
    origin.rank = static_cast<std::int32_t>(reader.integer());
    origin.run_uuid = reader.text();
    return origin;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

void remove_file(const fs::path& path) {
    std::error_code error;
    fs::remove(path, error);
    if (error) fail("cannot remove " + path.string() + ", left by an earlier run: " + error.message());
}

}  // namespace

std::string log_name(const std::string& path) {
    return path + ".spill";
}

std::string spill_name(const std::string& path, std::int32_t rank) {
    return log_name(path) + "." + std::to_string(rank);
}

void remove_spills(const std::string& path) {
    const fs::path log = log_name(path);
    remove_file(log);
    const fs::path folder = log.has_parent_path() ? log.parent_path() : ".";
    const std::string start = log.filename().string() + ".";
    std::vector<fs::path> left;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder}) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(start) && is_number(name.substr(start.size()))) left.push_back(entry.path());
    }
    for (const fs::path& spill : left) remove_file(spill);
}

bool is_being_written(const std::string& spill) {
    const Descriptor file{spill, O_RDONLY};
    return file.valid() && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

SpillWriter::SpillWriter(std::string path, const SpillOrigin& origin)
    : path_{std::move(path)}, file_{path_, O_WRONLY | O_CREAT | O_TRUNC} {
    if (!file_.valid()) fail_system("cannot create " + path_, choose);
    ::flock(file_.get(), LOCK_EX | LOCK_NB);  // tells others that it is being written; not all places can
    write(format_line());
    write_record(RecordKind::origin, 0, pack(origin));
    start_ = ::lseek(file_.get(), 0, SEEK_CUR);
}

template <typename Row>
void SpillWriter::append(std::span<const Row> rows) {
    while (!rows.empty()) {
        const auto part = rows.first(std::min(rows.size(), static_cast<std::size_t>(most_rows)));
        write_record(kind_of<Row>, std::ssize(part), to_bytes(part));
        rows = rows.subspan(part.size());
    }
}

void SpillWriter::finish_case(std::int32_t case_index) {
    write_record(RecordKind::case_finished, case_index, "");
}

void SpillWriter::restart() {
    if (::ftruncate(file_.get(), start_) == 0 && ::lseek(file_.get(), start_, SEEK_SET) == start_) return;
    fail_system("cannot shorten " + path_, choose);
}

void SpillWriter::remove() {
    ::unlink(path_.c_str());
}

void SpillWriter::write_record(RecordKind kind, std::int64_t rows, const std::string& bytes) {
    Head head{.kind = kind, .rows = rows, .bytes = std::ssize(bytes)};
    head.checksum = checksum_of(head, bytes);
    write(std::string{reinterpret_cast<const char*>(&head), sizeof head} + bytes);
}

/// After a write that failed the rest of a record lies at the end, so nothing more may follow.
void SpillWriter::write(const std::string& bytes) {
    if (failed_) fail("nothing can be written to " + path_ + " after a write failed");
    std::string_view left = bytes;
    while (!left.empty()) {
        const ssize_t written = ::write(file_.get(), left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            failed_ = true;
            fail_system("cannot write " + path_, choose);
        }
        left.remove_prefix(static_cast<std::size_t>(written));
    }
}

SpillReader::SpillReader(std::string path) : path_{std::move(path)}, file_{path_, O_RDONLY | O_NONBLOCK} {
    if (!file_.valid())
        fail_system("cannot open " + path_, "name the spills that a run left: NAME.h5.spill*");
    struct stat file {};
    if (::fstat(file_.get(), &file) != 0 || !S_ISREG(file.st_mode)) fail(path_ + " is not a regular file");
    size_ = file.st_size;
    check_format();
    at_ = std::ssize(format_line());
    const std::optional<Record> first = next();
    if (!first || first->kind != RecordKind::origin)
        fail(path_ + " is damaged at its beginning; nothing can be read from it");
    origin_ = unpack(first->bytes);
    start_ = at_;
}

void SpillReader::check_format() const {
    const std::string expected = format_line();
    std::string begin(static_cast<std::size_t>(std::min(size_, std::ssize(expected))), '\0');
    if (size_ == 0 || !read(0, begin.data(), std::ssize(begin)))
        fail(path_ + " is empty: its run ended before it began to measure");
    if (begin == expected) return;
    if (!begin.starts_with(format_word)) fail(path_ + " is no spill of ringscope");
    const std::string found = begin.substr(format_word.size(), begin.find('\n') - format_word.size());
    fail(
        path_ + " is a spill of version `" + found + "`, this program reads `" +
        expected.substr(format_word.size(), expected.size() - format_word.size() - 1) +
        "`: convert it with the version of ringscope that wrote it"
    );
}

std::optional<Record> SpillReader::next() {
    Head head;
    if (!read(at_, &head, sizeof head) || head.magic != record_magic) return {};
    const std::int64_t begin = at_ + std::int64_t{sizeof head};
    if (head.bytes < 0 || head.bytes > size_ - begin) return {};
    Record record{head.kind, head.rows, std::string(static_cast<std::size_t>(head.bytes), '\0')};
    if (!read(begin, record.bytes.data(), head.bytes)) return {};
    if (checksum_of(head, record.bytes) != head.checksum) return {};
    at_ = begin + head.bytes;
    return record;
}

bool SpillReader::read(std::int64_t at, void* bytes, std::int64_t count) const {
    auto* to = static_cast<char*>(bytes);
    while (count > 0) {
        const ssize_t got = ::pread(file_.get(), to, static_cast<std::size_t>(count), at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got, at += got, count -= got;
    }
    return true;
}

template void SpillWriter::append(std::span<const RunInfo>);
template void SpillWriter::append(std::span<const RankEnvironment>);
template void SpillWriter::append(std::span<const Fact>);
template void SpillWriter::append(std::span<const CaseRow>);
template void SpillWriter::append(std::span<const SampleRow>);
template void SpillWriter::append(std::span<const EventRow>);
template void SpillWriter::append(std::span<const TrafficRow>);
template void SpillWriter::append(std::span<const ColdRow>);
template void SpillWriter::append(std::span<const ClockRow>);
template void SpillWriter::append(std::span<const ClockExchangeRow>);
template void SpillWriter::append(std::span<const MachineRow>);
template void SpillWriter::append(std::span<const HealthRow>);

}  // namespace ringscope::trace
