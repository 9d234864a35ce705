// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "base/params.hpp"
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

bool is_option_name(const char* name) {
    const std::string text = name == nullptr ? "" : name;
    const auto lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    return !text.empty() && text.size() < 32 && std::ranges::all_of(text, lower) &&
           std::ranges::find(common_params, text) == common_params.end() &&
           std::ranges::find(nccl_params, text) == nccl_params.end();
}

void check_options(const ringscope_algorithm& algorithm) {
    const std::string id = algorithm.id;
    if (algorithm.option_count < 0 || algorithm.option_count > RINGSCOPE_MOST_OPTIONS ||
        (algorithm.option_count > 0 && algorithm.options == nullptr)) {
        refuse(id + " has no valid list of options");
    }
    for (const ringscope_option& option :
         std::span{algorithm.options, static_cast<std::size_t>(algorithm.option_count)}) {
        if (!is_option_name(option.name) || option.description == nullptr)
            refuse(id + " has an option without a name of its own or a description");
        if (option.least > option.usual || option.usual > option.most)
            refuse(id + "'s option " + option.name + " is not within its own bounds by default");
    }
}

void check_protocols(const ringscope_algorithm& algorithm) {
    constexpr std::uint32_t known = (1u << RINGSCOPE_PROTOCOL_COUNT) - 1;
    const bool own = algorithm.protocol >= 0 && algorithm.protocol < RINGSCOPE_PROTOCOL_COUNT;
    if (own && (algorithm.protocols & ~known) == 0) return;
    refuse(std::string{algorithm.id} + " names a protocol that is not known here");
}

void check_algorithm(const ringscope_algorithm& algorithm, const std::string& which) {
    if (!is_id(algorithm.id))
        refuse(which + "has no id of lower-case letters, digits and hyphens (at most 31)");
    check_protocols(algorithm);
    const bool counts = algorithm.chunks != nullptr || algorithm.chunks_at != nullptr;
    if (algorithm.description == nullptr || !counts || algorithm.play == nullptr) {
        refuse(std::string{algorithm.id} + " has no description, chunks or play");
    }
    check_options(algorithm);
}

/// The plugin's table, with what it was built too early for left empty.
ringscope_algorithm table_of(const ringscope_algorithm* algorithm, const std::string& which) {
    constexpr std::size_t first_size = offsetof(ringscope_algorithm, option_count);
    if (algorithm == nullptr) refuse(which + "is missing");
    if (algorithm->size < first_size) refuse(which + "is shorter than this ABI version says");
    ringscope_algorithm table{};
    std::memcpy(&table, algorithm, std::min<std::size_t>(algorithm->size, sizeof(table)));
    return table;
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
    try {
        if (!seen_.insert(fs::weakly_canonical(file).string()).second) return;
        check_file(file);
        add(entry_of(SharedLibrary{file}), file);
    } catch (const Error& e) {
        refused_.push_back({file, e.what()});
    } catch (const fs::filesystem_error& e) {
        refused_.push_back({file, e.code().message()});
    }
}

void PluginRegistry::add(const ringscope_plugin& plugin, const std::string& file) {
    std::vector<Found> found;
    for (std::int32_t i = 0; i < plugin.algorithm_count; ++i) {
        const std::string which = "algorithm " + std::to_string(i) + " ";
        const ringscope_algorithm& algorithm = tables_.emplace_back(table_of(plugin.algorithm(i), which));
        check_algorithm(algorithm, which);
        if (find_in(found, algorithm.id) != nullptr) refuse(std::string{algorithm.id} + " is there twice");
        if (const Found* first = find(algorithm.id)) {
            refused_.push_back({file, std::string{algorithm.id} + " is already there, from " + first->file});
            continue;
        }
        found.push_back({&algorithm, file, std::string{plugin.name} + " " + plugin.version});
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
