// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/experiment.hpp"

namespace ringscope {

/// A whole number that an algorithm takes besides what all of them take.
struct OptionWord {
    std::string name;
    std::int64_t least = 0, most = 0;
};

/// What an algorithm leaves open.
struct AlgorithmWords {
    std::vector<OptionWord> options{};
    std::vector<std::string> protocols{};  ///< that it can be played with
};

/// The names that exist in this program; what an experiment may name besides them is the engine `auto`.
struct Vocabulary {
    std::vector<std::string> algorithms;
    std::vector<std::string> engines;
    std::map<std::string, AlgorithmWords> words{};  ///< of algorithms that leave something open
};

/// The letters of nccl-tests, as typed.
struct Letters {
    std::optional<std::string> min_bytes{};   ///< -b, 32M
    std::optional<std::string> max_bytes{};   ///< -e, 32M
    std::optional<std::string> factor{};      ///< -f; without it sizes grow by the increment
    std::optional<std::string> increment{};   ///< -i, 1M
    std::optional<std::string> iterations{};  ///< -n
    std::optional<std::string> warmup{};      ///< -w
    std::optional<std::string> dtype{};       ///< -d, a type in either spelling, or all
    std::optional<std::string> op{};          ///< -o, a reduction, or all
    std::optional<std::string> check{};       ///< -c, anything but 0: every timed result is verified
    std::optional<std::string> graph{};       ///< -G, 0; any other number measures CUDA graphs
    std::optional<std::string> algorithms{};  ///< -a, ids with commas between
    std::optional<std::string> devices{};     ///< -g, 1; GPUs that the one process drives
};

/// What is to be said of an algorithm that the vocabulary lacks: the nearest right word, or that it is still
/// to come.
[[nodiscard]] std::string unknown_algorithm(const std::string& word, const Vocabulary& vocabulary);

/// The text of a file; refused where it is missing, unreadable or over 64 KiB.
[[nodiscard]] std::string read_experiment_file(const std::string& path);

/// The experiment that a YAML text describes. `path` is what errors call the text; `overrides` are the words
/// key.path=value after --set. Throws the first fault as a usage error of the form
/// "configs/x.yaml:12:3: unknown key `algoritms`, did you mean `algorithms`?".
[[nodiscard]] Experiment parse_experiment(
    const std::string& text, const std::string& path, const Vocabulary& vocabulary,
    std::span<const std::string> overrides = {}
);

/// Every fault that can be told at once, in the order of the file; empty where parse_experiment succeeds.
[[nodiscard]] std::vector<std::string> experiment_faults(
    const std::string& text, const std::string& path, const Vocabulary& vocabulary,
    std::span<const std::string> overrides = {}
);

/// The same experiment on another rank, from the resolved and the original text that rank 0 sent.
[[nodiscard]] Experiment parse_resolved(
    const std::string& resolved_text, const std::string& original_text, const Vocabulary& vocabulary
);

/// The experiment that nccl-tests' letters describe: out of place and in place, every result verified, no
/// file unless an override names one.
[[nodiscard]] Experiment experiment_from_letters(
    const Letters& letters, const Vocabulary& vocabulary, std::span<const std::string> overrides = {}
);

/// The word for `overrides` that sets the output file, whatever characters its name has.
[[nodiscard]] std::string output_override(const std::string& file);

}  // namespace ringscope
