// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/windows.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <random>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ringscope::transport {
namespace {

constexpr std::size_t page = 4096;

std::size_t whole_pages(std::int64_t bytes) {
    return (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + page - 1) / page * page;
}

[[noreturn]] void fail(const std::string& what, int error) {
    throw Error{ExitCode::out_of_memory, what + ": " + std::strerror(error)};
}

/// An open shared-memory object.
class SharedObject {
 public:
    SharedObject(const std::string& name, int flags) : fd_{shm_open(name.c_str(), flags, 0600)} {
        if (fd_ < 0) fail("cannot open shared memory /dev/shm" + name, errno);
    }
    ~SharedObject() { close(fd_); }
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    void allocate(std::size_t bytes) const {
        const int error = posix_fallocate(fd_, 0, static_cast<off_t>(bytes));
        if (error != 0)
            fail("cannot allocate " + std::to_string(bytes) + " bytes of shared memory" + room(), error);
    }

    [[nodiscard]] std::byte* map(std::size_t bytes) const {
        void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
        if (memory == MAP_FAILED)
            fail("cannot map " + std::to_string(bytes) + " bytes of shared memory", errno);
        return static_cast<std::byte*>(memory);
    }

    [[nodiscard]] std::size_t size() const {
        struct stat status {};
        return fstat(fd_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
    }

 private:
    static std::string room() {
        return " (" + std::to_string(shared_memory_left()) +
               " bytes are free in /dev/shm; a container gets more by --shm-size, or set fewer or smaller "
               "slots)";
    }

    int fd_;
};

struct Mapping {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
};

constexpr std::string_view name_begins = "ringscope.";

std::string random_name() {
    std::random_device device;
    std::string name = "/" + std::string{name_begins};
    for (int i = 0; i < 16; ++i) name += "0123456789abcdef"[device() % 16];
    return name;
}

class SharedWindows final : public Windows {
 public:
    SharedWindows(bootstrap::Bootstrap& bootstrap, std::int64_t bytes)
        : mappings_(static_cast<std::size_t>(bootstrap.size())) {
        static std::once_flag first_time;
        std::call_once(first_time, [] { remove_left_names("/dev/shm", std::chrono::minutes{10}); });
        std::string name;
        const Unlink unlink_at_the_end{name};
        bootstrap::agree(bootstrap, [&] { create(bootstrap.rank(), whole_pages(bytes), name); });
        const std::vector<std::string> names = bootstrap.all_gather(name);
        bootstrap::agree(bootstrap, [&] { attach(bootstrap, names); });
    }

    ~SharedWindows() override {
        for (const Mapping& mapping : mappings_) {
            if (mapping.memory != nullptr) munmap(mapping.memory, mapping.bytes);
        }
    }

    [[nodiscard]] std::byte* of(int rank) const override {
        return mappings_[static_cast<std::size_t>(rank)].memory;
    }

 private:
    /// Whatever happens in between, the name does not outlive the constructor.
    struct Unlink {
        const std::string& name;
        ~Unlink() {
            if (!name.empty()) shm_unlink(name.c_str());
        }
    };

    void create(int rank, std::size_t bytes, std::string& name) {
        const std::string fresh = random_name();
        const SharedObject object{fresh, O_CREAT | O_EXCL | O_RDWR};
        name = fresh;
        object.allocate(bytes);
        mappings_[static_cast<std::size_t>(rank)] = {object.map(bytes), bytes};
    }

    void attach(const bootstrap::Bootstrap& bootstrap, const std::vector<std::string>& names) {
        for (const int rank : bootstrap.local_ranks()) {
            if (rank == bootstrap.rank()) continue;
            const SharedObject object{names[static_cast<std::size_t>(rank)], O_RDWR};
            const std::size_t bytes = object.size();
            mappings_[static_cast<std::size_t>(rank)] = {object.map(bytes), bytes};
        }
    }

    std::vector<Mapping> mappings_;
};

/// Threads share ownership, so that a window lives as long as its last user.
class ThreadWindows final : public Windows {
 public:
    ThreadWindows(bootstrap::Bootstrap& bootstrap, std::int64_t bytes) {
        std::shared_ptr<std::byte> own;
        bootstrap::agree(bootstrap, [&] { own = allocate(whole_pages(bytes)); });
        const auto* address = &own;
        const std::string pointer{reinterpret_cast<const char*>(&address), sizeof(address)};
        for (const std::string& other : bootstrap.all_gather(pointer)) {
            const std::shared_ptr<std::byte>* window = nullptr;
            std::memcpy(&window, other.data(), sizeof(window));
            windows_.push_back(*window);
        }
        bootstrap.barrier();
    }

    [[nodiscard]] std::byte* of(int rank) const override {
        return windows_[static_cast<std::size_t>(rank)].get();
    }

 private:
    static std::shared_ptr<std::byte> allocate(std::size_t bytes) {
        auto* memory = static_cast<std::byte*>(std::aligned_alloc(page, bytes));
        if (memory == nullptr) throw std::bad_alloc{};
        std::memset(memory, 0, bytes);
        return {memory, std::free};
    }

    std::vector<std::shared_ptr<std::byte>> windows_;
};

bool is_left(const std::filesystem::path& path, std::chrono::seconds age) {
    struct stat status {};
    return path.filename().string().starts_with(name_begins) && lstat(path.c_str(), &status) == 0 &&
           S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           time(nullptr) - status.st_mtime > age.count();
}

}  // namespace

std::int64_t shared_memory_left() {
    struct statvfs status {};
    if (statvfs("/dev/shm", &status) != 0) return 0;
    return static_cast<std::int64_t>(status.f_bavail * status.f_frsize);
}

void remove_left_names(const std::filesystem::path& folder, std::chrono::seconds age) {
    std::error_code ignored;
    std::filesystem::directory_iterator entry{folder, ignored}, end;
    for (; entry != end; entry.increment(ignored)) {
        if (is_left(entry->path(), age)) std::filesystem::remove(entry->path(), ignored);
    }
}

std::unique_ptr<Windows> make_windows(bootstrap::Bootstrap& bootstrap, std::int64_t bytes) {
    if (bootstrap.shares_address_space()) return std::make_unique<ThreadWindows>(bootstrap, bytes);
    return std::make_unique<SharedWindows>(bootstrap, bytes);
}

}  // namespace ringscope::transport
