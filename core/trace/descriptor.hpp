// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace ringscope::trace {

/// An open file of the operating system. `flags` as for open(2); a new file may be read by everybody.
class Descriptor {
 public:
    Descriptor(const std::string& path, int flags) : fd_{::open(path.c_str(), flags | O_CLOEXEC, 0666)} {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(Descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
    int fd_;
};

}  // namespace ringscope::trace
