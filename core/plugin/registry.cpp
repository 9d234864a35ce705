// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "plugin/shared_library.hpp"

namespace ringscope::plugin {
namespace {

namespace fs = std::filesystem;

void refuse(const std::string& reason) {
    throw Error{ExitCode::usage, reason};
}

void check_file(const std::string& file) {
    const fs::file_status status = fs::status(file);
    if (!fs::is_regular_file(status)) refuse("not a regular file");
    if ((status.permissions() & fs::perms::others_write) != fs::perms::none) {
        refuse("writable by everybody: chmod o-w " + file);
    }
}

/// The exported entry, after the checks that make the rest of it readable.
const ringscope_plugin& entry_of(const SharedLibrary& library) {
    const auto* plugin = static_cast<const ringscope_plugin*>(library.symbol("ringscope_entry"));
    if (plugin == nullptr) refuse("exports no ringscope_entry: not a ringscope plugin");
    if (plugin->abi_version != RINGSCOPE_ABI_VERSION) {
        refuse(
            "plugin ABI version " + std::to_string(plugin->abi_version) + ", this program has version " +
            std::to_string(RINGSCOPE_ABI_VERSION) + ": rebuild the plugin"
        );
    }
    if (plugin->size < sizeof(ringscope_plugin)) refuse("its entry is shorter than this ABI version says");
    if (plugin->name == nullptr || plugin->version == nullptr || plugin->algorithm == nullptr) {
        refuse("its entry has no name, version or algorithms");
    }
    return *plugin;
}

bool is_id(const char* id) {
    const auto lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    const std::string text = id == nullptr ? "" : id;
    return !text.empty() && text.size() < 32 && std::ranges::all_of(text, lower);
}

void check_algorithm(const ringscope_algorithm* algorithm, std::int32_t index) {
    const std::string which = "algorithm " + std::to_string(index) + " ";
    if (algorithm == nullptr) refuse(which + "is missing");
    if (algorithm->size < sizeof(ringscope_algorithm))
        refuse(which + "is shorter than this ABI version says");
    if (!is_id(algorithm->id))
        refuse(which + "has no id of lower-case letters, digits and hyphens (at most 31)");
    if (algorithm->protocol < 0 || algorithm->protocol >= RINGSCOPE_PROTOCOL_COUNT) {
        refuse(std::string{algorithm->id} + " names a protocol that is not known here");
    }
    if (algorithm->description == nullptr || algorithm->chunks == nullptr || algorithm->play == nullptr) {
        refuse(std::string{algorithm->id} + " has no description, chunks or play");
    }
}

std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder}) {
        if (entry.path().extension() == ".so") files.push_back(fs::absolute(entry.path()).string());
    }
    std::ranges::sort(files);
    return files;
}

const Found* find_in(const std::vector<Found>& all, const std::string& id) {
    const auto found = std::ranges::find_if(all, [&](const Found& f) { return f.algorithm->id == id; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

PluginRegistry::PluginRegistry(std::span<const std::string> folders) {
    for (const std::string& folder : folders) load_folder(folder);
}

void PluginRegistry::load_folder(const std::string& folder) {
    try {
        for (const std::string& file : files_in(folder)) load(file);
    } catch (const fs::filesystem_error& e) {
        refused_.push_back({folder, e.code().message()});
    }
}

/// A folder that is searched twice, under two names perhaps, holds each plugin once.
void PluginRegistry::load(const std::string& file) {
    if (!seen_.insert(fs::weakly_canonical(file).string()).second) return;
    try {
        check_file(file);
        add(entry_of(SharedLibrary{file}), file);
    } catch (const Error& e) {
        refused_.push_back({file, e.what()});
    }
}

void PluginRegistry::add(const ringscope_plugin& plugin, const std::string& file) {
    std::vector<Found> found;
    for (std::int32_t i = 0; i < plugin.algorithm_count; ++i) {
        const ringscope_algorithm* algorithm = plugin.algorithm(i);
        check_algorithm(algorithm, i);
        if (find_in(found, algorithm->id) != nullptr) refuse(std::string{algorithm->id} + " is there twice");
        if (const Found* first = find(algorithm->id)) {
            refused_.push_back({file, std::string{algorithm->id} + " is already there, from " + first->file});
            continue;
        }
        found.push_back({algorithm, file, std::string{plugin.name} + " " + plugin.version});
    }
    algorithms_.insert(algorithms_.end(), found.begin(), found.end());
}

std::vector<std::string> PluginRegistry::ids() const {
    std::vector<std::string> ids;
    for (const Found& found : algorithms_) ids.emplace_back(found.algorithm->id);
    return ids;
}

const Found* PluginRegistry::find(const std::string& id) const {
    return find_in(algorithms_, id);
}

std::string default_plugin_folder() {
    std::error_code none;
    const fs::path bin = fs::read_symlink("/proc/self/exe", none).parent_path();
    const fs::path installed = bin.parent_path() / "lib" / "ringscope" / "plugins";
    return fs::exists(installed, none) ? installed.string() : (bin.parent_path() / "plugins").string();
}

}  // namespace ringscope::plugin
