// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "base/json_text.hpp"
#include "report/summary.hpp"

namespace ringscope::app {
namespace {

using Json = nlohmann::ordered_json;

Json word_or_null(const std::string& word) {
    return word.empty() ? Json{} : Json(word);
}

Json words_or_null(const std::vector<std::string>& words) {
    Json json = Json::array();
    for (const std::string& word : words) json.push_back(word_or_null(word));
    return json;
}

Json np_json(const std::vector<std::int64_t>& np) {
    Json json = Json::array();
    for (const std::int64_t ranks : np) json.push_back(ranks == 0 ? Json{} : Json(ranks));
    return json;
}

Json variables_json(const std::vector<Variables>& list) {
    Json json = Json::array();
    for (const Variables& one : list) {
        json.push_back({{"name", word_or_null(one.name)}, {"values", Json(one.values)}});
    }
    return json;
}

Json launch_json(const Launch& launch) {
    return {
        {"np", np_json(launch.np)},
        {"hostfile", words_or_null(launch.hostfile)},
        {"map_by", words_or_null(launch.map_by)},
        {"bind_to", words_or_null(launch.bind_to)},
        {"env", variables_json(launch.env)},
        {"mca", variables_json(launch.mca)},
        {"timeout_s", static_cast<double>(launch.timeout_ns) / 1e9},
        {"launches", launch.launches}};
}

Json case_json(const Case& point) {
    return {{"case", point.index},           {"algorithm", report::label(point.algorithm)},
            {"engine", point.engine},        {"mode", name_of(point.mode)},
            {"dtype", name_of(point.dtype)}, {"op", name_of(point.op)},
            {"bytes", point.bytes},          {"offset", point.offset},
            {"in_place", point.in_place}};
}

/// What launch/batch needs of an experiment; every list of `launch` is written as one.
Json to_json(const Experiment& experiment) {
    Json cases = Json::array();
    for (const Case& point : expand(experiment)) cases.push_back(case_json(point));
    return {
        {"name", experiment.name},
        {"sha256", experiment.sha256},
        {"launch", launch_json(experiment.launch)},
        {"cases", std::move(cases)},
        {"original", experiment.original_text},
        {"resolved", experiment.resolved_text}};
}

}  // namespace

ExitCode validate(const options::Options& options) {
    const std::string path = options.config.value_or("");
    const Vocabulary words = vocabulary(find_plugins(options));
    const std::string text = read_experiment_file(path);
    const std::vector<std::string> faults = experiment_faults(text, path, words, options.set);
    for (const std::string& fault : faults) std::cerr << "ringscope: " << fault << "\n";
    if (!faults.empty()) return ExitCode::usage;
    const Experiment experiment = parse_experiment(text, path, words, options.set);
    if (options.json) {
        std::cout << json_text(to_json(experiment)) << "\n";
    } else {
        std::cout << path << ": ok, " << expand(experiment).size() << " cases\n";
    }
    return ExitCode::ok;
}

}  // namespace ringscope::app
