// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/parse.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "config/letters.hpp"
#include "config/names.hpp"
#include "config/override.hpp"
#include "config/resolve.hpp"
#include "config/schema.hpp"
#include "config/yaml.hpp"

namespace ringscope {
namespace {

using config::Fault;
using config::Node;

/// The document with defaults, or what is wrong with it; one of the two is empty.
struct Checked {
    Node document;
    std::vector<Fault> faults;
};

Checked check(const Node& document, const Vocabulary& vocabulary) {
    if (const auto violations = schema_violations(document); !violations.empty()) {
        return {{}, explain(document, violations)};
    }
    Node complete = with_defaults(document);
    std::vector<Fault> faults = unknown_names(complete, vocabulary);
    return {std::move(complete), std::move(faults)};
}

Experiment resolve(Node document, const std::string& original_text) {
    canonicalize(document);
    Experiment experiment = read_experiment(document);
    experiment.original_text = original_text;
    experiment.resolved_text = write_yaml(document);
    experiment.sha256 = sha256(experiment.resolved_text);
    return experiment;
}

Experiment checked_experiment(const Node& document, const std::string& text, const Vocabulary& vocabulary) {
    Checked checked = check(document, vocabulary);
    if (!checked.faults.empty()) fail(checked.faults.front().mark, checked.faults.front().what);
    return resolve(std::move(checked.document), text);
}

void apply_overrides(Node& document, std::span<const std::string> overrides) {
    for (const std::string& word : overrides) apply_override(document, config::parse_override(word));
}

std::vector<std::string> texts_of(const std::vector<Fault>& faults) {
    std::vector<std::string> texts;
    for (const Fault& fault : faults) texts.push_back(to_string(fault));
    return texts;
}

}  // namespace

std::string read_experiment_file(const std::string& path) {
    if (std::filesystem::is_directory(path)) config::fail({path}, "is a directory: name a YAML file");
    std::ifstream file{path, std::ios::binary};
    if (!file) config::fail({path}, std::string{"cannot be read: "} + std::strerror(errno));
    std::string text(config::file_limit + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) config::fail({path}, "cannot be read to its end");
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > config::file_limit)
        config::fail({path}, "is larger than 64 KiB: is this an experiment?");
    return text;
}

Experiment parse_experiment(
    const std::string& text, const std::string& path, const Vocabulary& vocabulary,
    std::span<const std::string> overrides
) {
    Node document = config::parse_yaml(text, path);
    apply_overrides(document, overrides);
    return checked_experiment(document, text, vocabulary);
}

std::vector<std::string> experiment_faults(
    const std::string& text, const std::string& path, const Vocabulary& vocabulary,
    std::span<const std::string> overrides
) {
    try {
        Node document = config::parse_yaml(text, path);
        apply_overrides(document, overrides);
        Checked checked = check(document, vocabulary);
        if (checked.faults.empty()) static_cast<void>(resolve(std::move(checked.document), text));
        return texts_of(checked.faults);
    } catch (const Error& error) {
        if (error.code() != ExitCode::usage) throw;
        return {error.what()};
    }
}

Experiment parse_resolved(
    const std::string& resolved_text, const std::string& original_text, const Vocabulary& vocabulary
) {
    const Node document = config::parse_yaml(resolved_text, "resolved experiment", config::resolved_limit);
    return checked_experiment(document, original_text, vocabulary);
}

Experiment experiment_from_letters(
    const Letters& letters, const Vocabulary& vocabulary, std::span<const std::string> overrides
) {
    Node document = config::make_map({}, {"letters"});
    for (const config::Override& setting : config::settings_of(letters)) apply_override(document, setting);
    apply_overrides(document, overrides);
    return checked_experiment(document, "", vocabulary);
}

std::string output_override(const std::string& file) {
    return "output=" + config::write_text(file);
}

}  // namespace ringscope
