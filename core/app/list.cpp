// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "base/text.hpp"
#include "baseline/mpi.hpp"
#include "engine/host/engine.hpp"
#include "environment/environment.hpp"

namespace ringscope::app {
namespace {

using nlohmann::json;

std::vector<std::string> dtype_names(bool (*has)(DataType)) {
    std::vector<std::string> names;
    for (int i = 0; i < RINGSCOPE_DTYPE_COUNT; ++i) {
        const auto dtype = static_cast<DataType>(i);
        if (has(dtype)) names.emplace_back(name_of(dtype));
    }
    return names;
}

/// An algorithm as `list` shows it, whether it comes from a plugin or is built in.
struct Listed {
    std::string id, description, file, plugin, protocol;
    std::vector<std::string> engines, dtypes;
};

bool on_gpus(Protocol protocol) {
    return protocol == Protocol::ll || protocol == Protocol::simple;
}

Listed listed(const plugin::Found& found) {
    const auto protocol = static_cast<Protocol>(found.algorithm->protocol);
    std::vector<std::string> engines;
    if (engine::host::HostEngine::has(protocol)) engines.emplace_back(engine::host::HostEngine::name);
    if (on_gpus(protocol)) engines.emplace_back(cuda_engine);
    return {
        .id = found.algorithm->id,
        .description = found.algorithm->description,
        .file = found.file,
        .plugin = found.plugin,
        .protocol = std::string{name_of(protocol)},
        .engines = engines,
        .dtypes = dtype_names([](DataType) { return true; })};
}

Listed listed_baseline(const char* id, const char* description, bool (*has)(DataType)) {
    return {
        .id = id,
        .description = description,
        .file = "built in",
        .plugin = "ringscope",
        .protocol = "",
        .engines = {id},
        .dtypes = dtype_names(has)};
}

std::vector<Listed> listed(const plugin::PluginRegistry& registry) {
    std::vector<Listed> all;
    for (const plugin::Found& found : registry.algorithms()) all.push_back(listed(found));
    all.push_back(listed_baseline(baseline::Mpi::id, baseline::Mpi::description, [](DataType dtype) {
        return baseline::Mpi::unsupported(dtype, ReduceOp::sum, 1).empty();
    }));
    all.push_back(listed_baseline(
        nccl_id, "ncclAllReduce of the NCCL library; traffic not observable", [](DataType) { return true; }
    ));
    return all;
}

json to_json(const plugin::PluginRegistry& registry) {
    json root{{"cuda", environment::has_cuda()}, {"algorithms", json::array()}, {"refused", json::array()}};
    for (const Listed& one : listed(registry)) {
        root["algorithms"].push_back(
            {{"id", one.id},
             {"description", one.description},
             {"file", one.file},
             {"plugin", one.plugin},
             {"engines", one.engines},
             {"protocols", one.protocol.empty() ? json::array() : json::array({one.protocol})},
             {"dtypes", one.dtypes}}
        );
    }
    for (const plugin::Refused& refused : registry.refused()) {
        root["refused"].push_back({{"file", refused.file}, {"reason", refused.reason}});
    }
    return root;
}

void print(const plugin::PluginRegistry& registry) {
    std::cout << fmt::format("{:<18} {:<9} {:<20} {}\n", "algorithm", "protocol", "engines", "description");
    for (const Listed& one : listed(registry)) {
        std::cout << fmt::format(
            "{:<18} {:<9} {:<20} {}\n", one.id, one.protocol.empty() ? "-" : one.protocol,
            join(one.engines, ","), one.description
        );
        std::cout << fmt::format("{:<18} {}; {}\n", "", one.file, join(one.dtypes, " "));
    }
    if (!environment::has_cuda()) {
        std::cout << "this build has no CUDA: " << cuda_engine << " and " << nccl_id << " cannot run in it\n";
    }
    for (const plugin::Refused& refused : registry.refused()) {
        std::cout << "refused: " << refused.file << ": " << refused.reason << "\n";
    }
}

}  // namespace

ExitCode list(const options::Options& options) {
    const plugin::PluginRegistry registry = find_plugins(options);
    if (options.json) {
        std::cout << to_json(registry).dump(2) << "\n";
    } else {
        print(registry);
    }
    return ExitCode::ok;
}

}  // namespace ringscope::app
