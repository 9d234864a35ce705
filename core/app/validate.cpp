// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "app/commands.hpp"

namespace ringscope::app {

ExitCode validate(const options::Options& options) {
    const std::string path = options.config.value_or("");
    const Vocabulary words = vocabulary(find_plugins(options));
    const std::string text = read_experiment_file(path);
    const std::vector<std::string> faults = experiment_faults(text, path, words, options.set);
    for (const std::string& fault : faults) std::cerr << "ringscope: " << fault << "\n";
    if (!faults.empty()) return ExitCode::usage;
    const Experiment experiment = parse_experiment(text, path, words, options.set);
    std::cout << path << ": ok, " << expand(experiment).size() << " cases\n";
    return ExitCode::ok;
}

}  // namespace ringscope::app
