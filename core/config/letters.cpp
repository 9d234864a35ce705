// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/letters.hpp"

#include <optional>
#include <string>

#include "config/yaml.hpp"

namespace ringscope::config {
namespace {

using Word = std::optional<std::string>;

/// A letter with its value, or with what it stands for when it is not given.
Override setting(
    const std::string& path, const std::string& letter, const Word& word, const std::string& otherwise
) {
    const std::string value = word.value_or(otherwise);
    return {path, value, letter + " " + value};
}

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (c == ',') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

std::string yaml_list(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + write_text(word);
    return "[" + list + "]";
}

std::string our_name(const std::string& type) {
    const auto known = data_type(type);
    return known ? std::string{name_of(*known)} : type;
}

std::string type_list(const std::string& word) {
    std::vector<std::string> names;
    if (word == "all") {
        for (int i = 0; i < RINGSCOPE_DTYPE_COUNT; ++i) names.emplace_back(name_of(static_cast<DataType>(i)));
    } else {
        for (const std::string& name : split_at_commas(word)) names.push_back(our_name(name));
    }
    return yaml_list(names);
}

std::string op_list(const std::string& word) {
    if (word != "all") return yaml_list(split_at_commas(word));
    std::vector<std::string> names;
    for (int i = 0; i < RINGSCOPE_REDUCTION_COUNT; ++i) names.emplace_back(name_of(static_cast<ReduceOp>(i)));
    return yaml_list(names);
}

std::int64_t count_of(const std::string& letter, const Word& word, std::int64_t otherwise) {
    if (!word) return otherwise;
    const Node number = make_plain(*word, {});
    if (number.kind == Kind::integer && number.integer >= 0) return number.integer;
    fail({letter + " " + *word}, "must be a whole number");
}

void check_verification(const Letters& letters) {
    if (count_of("-c", letters.check, 1) == 0) {
        fail({"-c 0"}, "every timed result is verified, and this cannot be turned off: leave -c out");
    }
}

/// A factor of 1 means in nccl-tests what no factor means: sizes grow by the increment.
bool grows_by_factor(const Letters& letters) {
    return letters.factor && *letters.factor != "1";
}

}  // namespace

std::vector<Override> settings_of(const Letters& letters) {
    check_verification(letters);
    std::vector<Override> settings{
        {"version", "1", "letters"},
        {"sweep.in_place", "[false, true]", "letters"},
        {"output", "null", "letters"},  // a repeated command line shall not meet its own file
        setting("sweep.sizes.from", "-b", letters.min_bytes, "32M"),
        setting("sweep.sizes.to", "-e", letters.max_bytes, "32M"),
        grows_by_factor(letters) ? setting("sweep.sizes.factor", "-f", letters.factor, "")
                                 : setting("sweep.sizes.step", "-i", letters.increment, "1M"),
    };
    const auto add = [&](const char* path, const char* letter, const Word& word, const auto& to_yaml) {
        if (word) settings.push_back({path, to_yaml(*word), std::string{letter} + " " + *word});
    };
    const auto as_is = [](const std::string& word) { return word; };
    add("measure.iterations", "-n", letters.iterations, as_is);
    add("measure.warmup", "-w", letters.warmup, as_is);
    if (count_of("-G", letters.graph, 0) > 0)
        settings.push_back({"measure.mode", "graph", "-G " + *letters.graph});
    add("measure.devices_per_rank", "-g", letters.devices, as_is);
    add("sweep.dtypes", "-d", letters.dtype, type_list);
    add("sweep.ops", "-o", letters.op, op_list);
    add("sweep.algorithms", "-a", letters.algorithms,
        [](const auto& word) { return yaml_list(split_at_commas(word)); });
    return settings;
}

}  // namespace ringscope::config
