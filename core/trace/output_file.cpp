// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/output_file.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "trace/descriptor.hpp"
#include "trace/spill.hpp"

namespace ringscope::trace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) {
    throw Error{ExitCode::output, message};
}

/// Fails with the reason that the last system call gave.
[[noreturn]] void fail_system(const std::string& what) {
    fail(what + ": " + std::generic_category().message(errno) + "; choose another place with --output");
}

std::string parent_of(const std::string& path) {
    const fs::path parent = fs::path{path}.parent_path();
    return parent.empty() ? "." : parent.string();
}

void sync(const std::string& path, int flags) {
    const Descriptor file{path, flags};
    if (!file.valid()) fail_system("cannot open " + path + " to make it durable");
    // Some file systems cannot sync a directory and say EINVAL; nothing more can be done there.
    if (::fsync(file.get()) != 0 && errno != EINVAL) fail_system("cannot make " + path + " durable");
}

bool same_file(int fd, const std::string& path) {
    struct stat held;
    struct stat named;
    return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

}  // namespace

std::string partial_name(const std::string& path) {
    return path + ".partial";
}

void refuse_existing(const std::string& path, bool force) {
    if (path.empty()) fail("the output has no name; name a file with --output");
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) fail("output " + path + " is a directory; name a file with --output");
    if (!fs::exists(status)) return;
    if (!fs::is_regular_file(status))
        fail("output " + path + " is not a regular file; name another with --output");
    if (!force) fail("output " + path + " exists; replace it with --force or name another with --output");
}

void make_parent(const std::string& path) {
    std::error_code error;
    fs::create_directories(parent_of(path), error);
    if (!error && fs::is_directory(parent_of(path))) return;
    fail(
        "cannot make directory " + parent_of(path) + ": " + error.message() +
        "; choose another place with --output"
    );
}

/// Its log is locked until the file has its name; the partial file itself only until HDF5 has closed it.
void refuse_running(const std::string& path) {
    if (is_being_written(log_name(path)))
        fail("another run is writing " + path + "; wait for it or name another file with --output");
}

void remove_stale(const std::string& partial) {
    const Descriptor file{partial, O_RDONLY | O_NONBLOCK};
    if (!file.valid() && errno == ENOENT) return;
    if (!file.valid()) fail_system("cannot open " + partial + ", left by an earlier run");
    // The writer of a partial file holds HDF5's lock on it, which is a flock. The lock is kept until the name
    // is gone, so that of two runs that start at once only one removes it.
    const bool locked = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (locked || !same_file(file.get(), partial))
        fail("another run is writing " + partial + "; wait for it or name another file with --output");
    if (::unlink(partial.c_str()) != 0) fail_system("cannot remove " + partial + ", left by an earlier run");
}

void require_space(const std::string& path, std::int64_t bytes) {
    struct statvfs place {};
    if (::statvfs(parent_of(path).c_str(), &place) != 0)
        fail_system("cannot ask for the free space of " + path);
    if (place.f_blocks == 0) return;  // a file system that does not say how large it is
    const double available = static_cast<double>(place.f_bavail) * static_cast<double>(place.f_frsize);
    if (static_cast<double>(bytes) <= available) return;
    fail(
        "not enough space for " + path + ": " + std::to_string(bytes) + " bytes needed, " +
        std::to_string(static_cast<std::int64_t>(available)) +
        " available; free some, trace fewer iterations, or choose another place with --output"
    );
}

void publish(const std::string& partial, const std::string& path) {
    sync(partial, O_RDONLY);
    if (std::rename(partial.c_str(), path.c_str()) != 0)
        fail_system("cannot rename " + partial + " to " + path);
    sync(parent_of(path), O_RDONLY | O_DIRECTORY);
}

}  // namespace ringscope::trace
