// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "trace/tables.hpp"

/// The wall around HDF5: only the sources of this folder include it. What fails throws Failure.
///
/// It is the C library, not its C++ one (H5Cpp): that closes all files from an exit handler, and closing a
/// file on a full disk is a SIGSEGV.
namespace ringscope::trace::hdf5 {

/// Why HDF5 failed, in the words of the operating system where there are any.
class Failure : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Owns one id of the library.
class Handle {
 public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close close) : id_{id}, close_{close} {}
    Handle(Handle&& other) noexcept : id_{std::exchange(other.id_, H5I_INVALID_HID)}, close_{other.close_} {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }

    [[nodiscard]] hid_t get() const noexcept { return id_; }
    [[nodiscard]] hid_t release() noexcept { return std::exchange(id_, H5I_INVALID_HID); }

 private:
    hid_t id_ = H5I_INVALID_HID;
    Close close_ = nullptr;
};

/// To be called before anything else of HDF5. The library then keeps quiet, and does nothing when the process
/// exits.
void set_up();

/// A new file that HDF5 1.8 and all later versions can read; fails if the name exists.
[[nodiscard]] Handle create_file(const std::string& path);
[[nodiscard]] Handle create_group(hid_t place, const std::string& name);

void set_attribute(hid_t object, const std::string& name, const std::string& text);
void set_attribute(hid_t object, const std::string& name, std::int64_t value);
void change_attribute(hid_t object, const std::string& name, std::int64_t value);

/// A scalar text dataset.
void write_text(hid_t group, const std::string& name, const std::string& text, const std::string& long_name);

/// Writes everything out to the operating system.
void flush(hid_t file);

/// Closes a flushed file; fails if any object in it is still open.
void close_file(Handle file);

/// A group of equally long one-dimensional datasets, one for each column, that grow row by row. A column
/// `row` (0, 1, ...) is the dimension scale of the others.
class Table {
 public:
    Table(hid_t file, const std::string& group, std::int64_t chunk_rows, std::vector<ColumnSpec> columns);

    /// Writes the cells of column number `column` for all appended rows.
    using Pack = std::function<void(std::size_t column, std::byte* cells)>;
    void append(std::int64_t rows, const Pack& pack);

    /// Bytes that `rows` rows take at most.
    [[nodiscard]] std::int64_t bytes_of(std::int64_t rows) const;

 private:
    void extend(hid_t column, std::int64_t added, const void* cells) const;

    std::vector<ColumnSpec> specs_;
    std::vector<Handle> columns_;
    Handle row_;
    std::int64_t rows_ = 0;
};

}  // namespace ringscope::trace::hdf5
