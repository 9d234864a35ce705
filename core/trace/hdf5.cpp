// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/hdf5.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/text.hpp"

namespace ringscope::trace::hdf5 {
namespace {

static_assert(std::endian::native == std::endian::little, "cells are packed in the types of the file");

constexpr unsigned deflate_level = 1;  // more costs time and gains little after the shuffle

/// From "unable to lock file, errno = 37, error message = 'No locks available' ..." what a person wants to
/// know.
std::string shortened(const std::string& message) {
    const std::string mark = "error message = '";
    const std::size_t begin = message.find(mark);
    if (begin == std::string::npos) return message;
    const std::size_t words = begin + mark.size();
    return message.substr(0, message.find_first_of(",:")) + ": " +
           message.substr(words, message.find('\'', words) - words);
}

/// The innermost entry of the error stack is the cause; the others say which calls it failed.
extern "C" herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* cause) {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(cause) = shortened(error->desc);
    return 0;
}

[[noreturn]] void fail() {
    std::string cause = "unknown error of HDF5";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &cause);
    throw Failure{cause};
}

/// For calls that return a status: negative means failed.
void check(herr_t status) {
    if (status < 0) fail();
}

/// For calls that return a new id.
Handle own(hid_t id, Handle::Close close) {
    if (id < 0) fail();
    return {id, close};
}

Handle text_type(std::size_t width) {
    Handle type = own(H5Tcopy(H5T_C_S1), H5Tclose);
    check(H5Tset_size(type.get(), width));
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8));
    check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD));
    return type;
}

Handle type_of(const ColumnSpec& spec) {
    switch (spec.type) {
        case CellType::int32:
            return own(H5Tcopy(H5T_STD_I32LE), H5Tclose);
        case CellType::int64:
            return own(H5Tcopy(H5T_STD_I64LE), H5Tclose);
        case CellType::uint8:
            return own(H5Tcopy(H5T_STD_U8LE), H5Tclose);
        case CellType::uint64:
            return own(H5Tcopy(H5T_STD_U64LE), H5Tclose);
        case CellType::float64:
            return own(H5Tcopy(H5T_IEEE_F64LE), H5Tclose);
        case CellType::text:
            break;
    }
    return text_type(spec.width);
}

Handle scalar() {
    return own(H5Screate(H5S_SCALAR), H5Sclose);
}

Handle line(hsize_t length, const hsize_t* limit = nullptr) {
    return own(H5Screate_simple(1, &length, limit), H5Sclose);
}

Handle column_layout(std::int64_t chunk_rows) {
    const hsize_t chunk = static_cast<hsize_t>(chunk_rows);
    Handle layout = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    check(H5Pset_chunk(layout.get(), 1, &chunk));
    check(H5Pset_shuffle(layout.get()));
    check(H5Pset_deflate(layout.get(), deflate_level));
    check(H5Pset_fletcher32(layout.get()));
    return layout;
}

void write_attribute(
    hid_t object, const std::string& name, const Handle& type, const Handle& space, const void* data
) {
    const Handle attribute =
        own(H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(H5Awrite(attribute.get(), type.get(), data));
}

void set_flags(hid_t column, const std::vector<std::string>& meanings) {
    std::vector<std::uint8_t> values(meanings.size());
    std::iota(values.begin(), values.end(), std::uint8_t{0});
    const Handle type = own(H5Tcopy(H5T_STD_U8LE), H5Tclose);
    write_attribute(column, "flag_values", type, line(values.size()), values.data());
    set_attribute(column, "flag_meanings", join(meanings, " "));
}

Handle create_column(hid_t group, const ColumnSpec& spec, std::int64_t chunk_rows) {
    const hsize_t unlimited = H5S_UNLIMITED;
    const Handle type = type_of(spec), space = line(0, &unlimited), layout = column_layout(chunk_rows);
    const auto create = [&] {
        return H5Dcreate2(
            group, spec.name.c_str(), type.get(), space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT
        );
    };
    Handle column = own(create(), H5Dclose);
    set_attribute(column.get(), "units", spec.units);
    set_attribute(column.get(), "long_name", spec.long_name);
    if (!spec.flags.empty()) set_flags(column.get(), spec.flags);
    return column;
}

/// HDF5 has no fixed-length text of length 0, so an empty one is a single null byte.
Handle type_for(const std::string& text) {
    return text_type(std::max<std::size_t>(text.size(), 1));
}

const ColumnSpec row_spec{"row", CellType::int64, sizeof(std::int64_t), "1", "row number", {}};

}  // namespace

void set_up() {
    H5dont_atexit();  // says "failed" when it is called again, without harm
    check(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr));
}

Handle create_file(const std::string& path) {
    const Handle access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18));
    return own(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()), H5Fclose);
}

Handle create_group(hid_t place, const std::string& name) {
    return own(H5Gcreate2(place, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
}

void set_attribute(hid_t object, const std::string& name, const std::string& text) {
    write_attribute(object, name, type_for(text), scalar(), text.c_str());
}

void set_attribute(hid_t object, const std::string& name, std::int64_t value) {
    const Handle type = own(H5Tcopy(H5T_STD_I64LE), H5Tclose);
    write_attribute(object, name, type, scalar(), &value);
}

void change_attribute(hid_t object, const std::string& name, std::int64_t value) {
    const Handle attribute = own(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
    check(H5Awrite(attribute.get(), H5T_STD_I64LE, &value));
}

void write_text(hid_t group, const std::string& name, const std::string& text, const std::string& long_name) {
    const Handle type = type_for(text), space = scalar();
    const auto create = [&] {
        return H5Dcreate2(
            group, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT
        );
    };
    const Handle dataset = own(create(), H5Dclose);
    check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()));
    set_attribute(dataset.get(), "units", "1");
    set_attribute(dataset.get(), "long_name", long_name);
}

void flush(hid_t file) {
    check(H5Fflush(file, H5F_SCOPE_GLOBAL));
}

void close_file(Handle file) {
    constexpr ssize_t only_the_file = 1;
    if (H5Fget_obj_count(file.get(), H5F_OBJ_ALL) != only_the_file)
        throw Failure{"an object in it is still open"};
    check(H5Fclose(file.release()));
}

Table::Table(hid_t file, const std::string& group, std::int64_t chunk_rows, std::vector<ColumnSpec> columns)
    : specs_{std::move(columns)} {
    const Handle place = create_group(file, group);
    row_ = create_column(place.get(), row_spec, chunk_rows);
    check(H5DSset_scale(row_.get(), "row"));
    for (const ColumnSpec& spec : specs_) {
        columns_.push_back(create_column(place.get(), spec, chunk_rows));
        check(H5DSattach_scale(columns_.back().get(), row_.get(), 0));
    }
}

void Table::append(std::int64_t rows, const Pack& pack) {
    if (rows == 0) return;
    std::vector<std::byte> cells;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        cells.resize(static_cast<std::size_t>(rows) * specs_[i].width);
        pack(i, cells.data());
        extend(columns_[i].get(), rows, cells.data());
    }
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(rows));
    std::iota(numbers.begin(), numbers.end(), rows_);
    extend(row_.get(), rows, numbers.data());
    rows_ += rows;
}

std::int64_t Table::bytes_of(std::int64_t rows) const {
    std::int64_t width = sizeof(std::int64_t);
    for (const ColumnSpec& spec : specs_) width += static_cast<std::int64_t>(spec.width);
    return width * rows;
}

void Table::extend(hid_t column, std::int64_t added, const void* cells) const {
    const hsize_t count = static_cast<hsize_t>(added), start = static_cast<hsize_t>(rows_),
                  total = start + count;
    check(H5Dset_extent(column, &total));
    const Handle memory = line(count), target = own(H5Dget_space(column), H5Sclose);
    check(H5Sselect_hyperslab(target.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr));
    const Handle type = own(H5Dget_type(column), H5Tclose);
    check(H5Dwrite(column, type.get(), memory.get(), target.get(), H5P_DEFAULT, cells));
}

}  // namespace ringscope::trace::hdf5
