// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <hdf5_hl.h>

#include <map>

#include "tests/trace/reading.hpp"
#include "tests/trace/samples.hpp"
#include "trace/writer.hpp"

namespace ringscope::trace {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

using Faults = std::vector<std::string>;

bool has_rows(hid_t dataset) {
    return H5Sget_simple_extent_ndims(space_of(dataset)) > 0;
}
bool has_row_column(hid_t group) {
    return H5Lexists(group, "row", H5P_DEFAULT) > 0;
}

void check_words(hid_t dataset, const std::string& name, Faults& faults) {
    for (const char* word : {"units", "long_name"})
        if (H5Aexists(dataset, word) <= 0 || text_attribute(dataset, word).empty())
            faults.push_back(name + " has no " + word);
}

void check_length(hid_t group, hid_t dataset, const std::string& name, Faults& faults) {
    if (!has_rows(dataset)) return;
    if (!has_row_column(group))
        faults.push_back(name + " has no row beside it");
    else if (length_of(dataset) != length_of(dataset_of(group, "row")))
        faults.push_back(name + " is not as long as row");
}

void check_scale(hid_t group, hid_t dataset, const std::string& name, Faults& faults) {
    if (!has_rows(dataset) || !has_row_column(group)) return;
    const Id row = dataset_of(group, "row");
    if (name.ends_with("/row") ? H5DSis_scale(row) <= 0 : H5DSis_attached(dataset, row, 0) <= 0)
        faults.push_back(name + " has no dimension scale");
}

void check_type(hid_t dataset, const std::string& name, Faults& faults) {
    const Id type = type_of(dataset);
    if (H5Tis_variable_str(type) > 0) faults.push_back(name + " is of variable length");
    if (H5Tget_order(type) == H5T_ORDER_BE) faults.push_back(name + " is not little-endian");
}

bool is_group(hid_t place, const std::string& name) {
    const Id object{H5Oopen(place, name.c_str(), H5P_DEFAULT), H5Oclose};
    return H5Iget_type(object) == H5I_GROUP;
}

/// Everything in a group, and below it, that breaks a promise of the schema.
void walk(hid_t group, const std::string& path, Faults& faults) {
    for (const std::string& child : names_in(group)) {
        const std::string name = path + "/" + child;
        if (is_group(group, child)) {
            walk(group_of(group, child), name, faults);
            continue;
        }
        const Id dataset = dataset_of(group, child);
        check_words(dataset, name, faults);
        check_length(group, dataset, name, faults);
        check_scale(group, dataset, name, faults);
        check_type(dataset, name, faults);
    }
}

Faults faults_of(hid_t file) {
    Faults faults;
    walk(group_of(file, "/"), "", faults);
    return faults;
}

std::string sample_file(const Folder& folder) {
    const std::string path = folder.file("run.h5");
    TraceWriter writer{path, run_info(), false};
    writer.append({case_row(0)});
    writer.append(events(70));
    writer.append(std::vector<SampleRow>(3));
    writer.append(std::vector<TrafficRow>(2));
    writer.finish(false);
    return path;
}

TEST(schema, written_file_keeps_every_promise) {
    const Folder folder;
    EXPECT_THAT(faults_of(open(sample_file(folder))), IsEmpty());
}

TEST(schema, groups_are_those_of_the_contract) {
    const Folder folder;
    const Id file = open(sample_file(folder));
    EXPECT_THAT(
        names_in(group_of(file, "/")), UnorderedElementsAre(
                                           "config", "environment", "clock", "clock_exchanges", "cases",
                                           "samples", "events", "traffic", "machine", "cold", "health"
                                       )
    );
}

TEST(schema, events_have_the_columns_of_the_contract) {
    const Folder folder;
    const Id file = open(sample_file(folder));
    EXPECT_THAT(
        names_in(group_of(file, "/events")),
        IsSupersetOf({"case",     "iteration", "rank",          "channel",        "slice",
                      "op",       "step",      "phase",         "direction",      "peer",
                      "seq",      "chunk",     "payload_bytes", "wire_bytes",     "begin_ns",
                      "ready_ns", "end_ns",    "wait_data_ns",  "wait_credit_ns", "posted_ns"})
    );
}

TEST(schema, columns_are_compressed_and_have_checksums) {
    const Folder folder;
    const Id file = open(sample_file(folder));
    const Id layout{H5Dget_create_plist(dataset_of(file, "/events/seq")), H5Pclose};
    std::vector<H5Z_filter_t> filters;
    for (unsigned i = 0; i < static_cast<unsigned>(H5Pget_nfilters(layout)); ++i) {
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        filters.push_back(H5Pget_filter2(layout, i, &flags, &values, nullptr, 0, nullptr, &config));
    }
    EXPECT_THAT(filters, ElementsAre(H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32));
}

// The walk must see what it is there to see: one broken promise each.

Id writable(const std::string& path) {
    return open(path, H5F_ACC_RDWR);
}

TEST(schema_walk, finds_missing_units) {
    const Folder folder;
    const Id file = writable(sample_file(folder));
    H5Adelete(dataset_of(file, "/events/seq"), "units");
    EXPECT_THAT(faults_of(file), ElementsAre("/events/seq has no units"));
}

TEST(schema_walk, finds_missing_long_name_of_a_scalar) {
    const Folder folder;
    const Id file = writable(sample_file(folder));
    H5Adelete(dataset_of(file, "/config/sha256"), "long_name");
    EXPECT_THAT(faults_of(file), ElementsAre("/config/sha256 has no long_name"));
}

TEST(schema_walk, finds_column_that_is_one_row_longer) {
    const Folder folder;
    const Id file = writable(sample_file(folder));
    const hsize_t longer = 71;
    H5Dset_extent(dataset_of(file, "/events/seq"), &longer);
    EXPECT_THAT(faults_of(file), ElementsAre("/events/seq is not as long as row"));
}

TEST(schema_walk, finds_column_without_scale) {
    const Folder folder;
    const Id file = writable(sample_file(folder));
    H5DSdetach_scale(dataset_of(file, "/events/seq"), dataset_of(file, "/events/row"), 0);
    EXPECT_THAT(faults_of(file), ElementsAre("/events/seq has no dimension scale"));
}

TEST(schema_walk, finds_bare_dataset) {
    const Folder folder;
    const Id file = writable(sample_file(folder));
    const Id scalar{H5Screate(H5S_SCALAR), H5Sclose};
    const Id bare{
        H5Dcreate2(file, "/bare", H5T_STD_I32BE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose};
    EXPECT_THAT(faults_of(file), SizeIs(3));
}

}  // namespace
}  // namespace ringscope::trace
