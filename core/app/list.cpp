// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "baseline/mpi.hpp"
#include "environment/environment.hpp"
#include "reduce/reduce.hpp"

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
    std::string id, description, file, plugin;
    std::vector<std::string> protocols, engines, dtypes;
    std::vector<ringscope_option> options{};
};

/// Engines that have one of these protocols at least.
std::vector<std::string> engines_for(const std::vector<std::string>& protocols) {
    std::vector<std::string> engines;
    for (const engine::Engine& engine : engine::engines()) {
        const auto usable = [&](const std::string& word) { return engine.has(*protocol(word)); };
        if (std::ranges::any_of(protocols, usable)) engines.emplace_back(engine.name);
    }
    return engines;
}

Listed listed(const plugin::Found& found) {
    const ringscope_algorithm& algorithm = *found.algorithm;
    const std::vector<std::string> protocols = protocols_of(algorithm);
    return {
        .id = algorithm.id,
        .description = algorithm.description,
        .file = found.file,
        .plugin = found.plugin,
        .protocols = protocols,
        .engines = engines_for(protocols),
        .dtypes = dtype_names(reduce::has),
        .options = {algorithm.options, algorithm.options + algorithm.option_count}};
}

Listed listed_baseline(const char* id, const char* description, bool (*has)(DataType)) {
    return {
        .id = id,
        .description = description,
        .file = "built in",
        .plugin = "ringscope",
        .protocols = {},
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

json to_json(const std::vector<ringscope_option>& options) {
    json list = json::array();
    for (const ringscope_option& option : options) {
        list.push_back(
            {{"name", option.name},
             {"description", option.description},
             {"usual", option.usual},
             {"least", option.least},
             {"most", option.most}}
        );
    }
    return list;
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
             {"protocols", one.protocols},
             {"dtypes", one.dtypes},
             {"options", to_json(one.options)}}
        );
    }
    for (const plugin::Refused& refused : registry.refused()) {
        root["refused"].push_back({{"file", refused.file}, {"reason", refused.reason}});
    }
    return root;
}

void print(const plugin::PluginRegistry& registry) {
    constexpr const char* columns = "{:<18} {:<16} {:<50} {}\n";
    std::cout << fmt::format(fmt::runtime(columns), "algorithm", "protocols", "engines", "description");
    for (const Listed& one : listed(registry)) {
        const std::string protocols = one.protocols.empty() ? "-" : join(one.protocols, ",");
        std::cout << fmt::format(
            fmt::runtime(columns), one.id, protocols, join(one.engines, ","), one.description
        );
        std::cout << fmt::format("{:<18} {}; {}\n", "", one.file, join(one.dtypes, " "));
        for (const ringscope_option& option : one.options) {
            std::cout << fmt::format(
                "{:<18} option {}: {}, {} to {}, usually {}\n", "", option.name, option.description,
                option.least, option.most, option.usual
            );
        }
    }
    if (!environment::has_cuda()) {
        std::cout << "this build has no CUDA: the engines cuda-... and " << nccl_id << " cannot run in it\n";
    }
    for (const plugin::Refused& refused : registry.refused()) {
        std::cout << "refused: " << refused.file << ": " << refused.reason << "\n";
    }
}

}  // namespace

ExitCode list(const options::Options& options) {
    const plugin::PluginRegistry registry = find_plugins(options);
    if (options.json) {
        std::cout << json_text(to_json(registry)) << "\n";
    } else {
        print(registry);
    }
    return ExitCode::ok;
}

}  // namespace ringscope::app
