// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Reads a trace file back with nothing of the writer.
namespace ringscope::trace::testing {

/// An id of HDF5 that is closed with its last copy.
class Id {
 public:
    Id(hid_t id, herr_t (*close)(hid_t))
        : id_{new hid_t{id}, [close](const hid_t* held) {
                  if (*held >= 0) close(*held);
                  delete held;
              }} {
        if (id < 0) throw std::runtime_error{"HDF5 cannot open something that a test reads"};
    }
    operator hid_t() const { return *id_; }  // NOLINT(google-explicit-constructor): these are tests

 private:
    std::shared_ptr<const hid_t> id_;
};

inline Id open(const std::string& path, unsigned mode = H5F_ACC_RDONLY) {
    return {H5Fopen(path.c_str(), mode, H5P_DEFAULT), H5Fclose};
}
inline Id dataset_of(hid_t place, const std::string& name) {
    return {H5Dopen2(place, name.c_str(), H5P_DEFAULT), H5Dclose};
}
inline Id group_of(hid_t place, const std::string& name) {
    return {H5Gopen2(place, name.c_str(), H5P_DEFAULT), H5Gclose};
}
inline Id attribute_of(hid_t object, const std::string& name) {
    return {H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose};
}
inline Id type_of(hid_t dataset) {
    return {H5Dget_type(dataset), H5Tclose};
}
inline Id space_of(hid_t dataset) {
    return {H5Dget_space(dataset), H5Sclose};
}

inline std::size_t length_of(hid_t dataset) {
    return static_cast<std::size_t>(H5Sget_simple_extent_npoints(space_of(dataset)));
}

template <typename Cell>
std::vector<Cell> read(hid_t file, const std::string& name, hid_t type) {
    const Id dataset = dataset_of(file, name);
    std::vector<Cell> cells(length_of(dataset));
    if (!cells.empty() && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells.data()) < 0)
        throw std::runtime_error{"cannot read " + name};
    return cells;
}

/// Integers of any width.
inline std::vector<std::int64_t> integers(hid_t file, const std::string& name) {
    return read<std::int64_t>(file, name, H5T_NATIVE_INT64);
}

inline std::vector<double> reals(hid_t file, const std::string& name) {
    return read<double>(file, name, H5T_NATIVE_DOUBLE);
}

inline std::string unpadded(const std::string& cell) {
    return cell.substr(0, cell.find('\0'));
}

/// Fixed-length texts, without their padding.
inline std::vector<std::string> texts(hid_t file, const std::string& name) {
    const Id dataset = dataset_of(file, name), type = type_of(dataset);
    const std::size_t width = H5Tget_size(type);
    std::string cells(length_of(dataset) * width, '\0');
    if (!cells.empty() && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells.data()) < 0)
        throw std::runtime_error{"cannot read " + name};
    std::vector<std::string> found;
    for (std::size_t at = 0; at < cells.size(); at += width)
        found.push_back(unpadded(cells.substr(at, width)));
    return found;
}

inline std::string text_attribute(hid_t object, const std::string& name) {
    const Id attribute = attribute_of(object, name), type{H5Aget_type(attribute), H5Tclose};
    std::string text(H5Tget_size(type), '\0');
    H5Aread(attribute, type, text.data());
    return unpadded(text);
}

inline std::int64_t root_integer(hid_t file, const std::string& name) {
    std::int64_t value = 0;
    H5Aread(attribute_of(file, name), H5T_NATIVE_INT64, &value);
    return value;
}

/// Names of the links in a group, in the order of the alphabet.
inline std::vector<std::string> names_in(hid_t group) {
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
        static_cast<std::vector<std::string>*>(list)->emplace_back(name);
        return 0;
    };
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
    return names;
}

}  // namespace ringscope::trace::testing
