// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/resolve.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace ringscope::config {
namespace {

// Into one spelling
// -----------------------------------------------------------------------------------------------

void canonicalize_bytes(Node& size) {
    const auto bytes = parse_bytes(size.text);
    if (!bytes) fail(size.mark, "the size " + shown(size) + " is no whole number of bytes up to 2^62");
    size = make_integer(*bytes, size.mark);
}

void canonicalize_sizes(Node& sizes) {
    for (Node& item : sizes.items) canonicalize_bytes(item);
    std::vector<Entry> range;
    for (const char* key : {"from", "to", "factor", "step"}) {
        Node* value = sizes.find(key);
        if (!value) continue;
        canonicalize_bytes(*value);
        range.push_back({key, value->mark, *value});
    }
    sizes.entries = std::move(range);
}

std::string duration_text(std::int64_t ns) {
    constexpr std::int64_t s = 1'000'000'000;
    constexpr std::array<std::pair<std::int64_t, const char*>, 5> units{
        {{3600 * s, "h"}, {60 * s, "m"}, {s, "s"}, {1'000'000, "ms"}, {1'000, "us"}}};
    for (const auto& [factor, name] : units) {
        if (ns % factor == 0) return std::to_string(ns / factor) + name;
    }
    return std::to_string(ns) + "ns";
}

void canonicalize_duration(Node& duration) {
    const auto ns = parse_duration_ns(duration.text);
    if (!ns) fail(duration.mark, "the duration " + shown(duration) + " is no whole number of nanoseconds");
    if (*ns == 0) fail(duration.mark, "the duration " + shown(duration) + " leaves no time at all");
    duration = make_text(duration_text(*ns), duration.mark);
}

void sort_keys(Node& map) {
    std::ranges::sort(map.entries, {}, &Entry::key);
}

void canonicalize_variables(Node& variables) {
    sort_keys(variables);
    for (Entry& entry : variables.entries) canonicalize_variables(entry.value);
    for (Node& map : variables.items) canonicalize_variables(map);
}

void canonicalize_launch(Node& launch) {
    canonicalize_variables(launch.at("env"));
    canonicalize_variables(launch.at("mca"));
    canonicalize_duration(launch.at("timeout"));
}

void check_slot_bytes(const Node& value) {
    constexpr std::int64_t least = 64, most = 64 << 20, unit = 16;
    if (value.integer >= least && value.integer <= most && value.integer % unit == 0) return;
    fail(value.mark, "`slot_bytes` must be from 64 to 64MiB and a multiple of 16, found " + shown(value));
}

void check_ctas(const Node& params) {
    const Node* least = params.find("min_ctas");
    const Node* most = params.find("max_ctas");
    if (!least || !most || least->integer <= most->integer) return;
    fail(least->mark, "`min_ctas` (" + least->text + ") is larger than `max_ctas` (" + most->text + ")");
}

void canonicalize_params(Node& params) {
    sort_keys(params);
    for (Entry& param : params.entries) {
        if (param.value.kind == Kind::boolean) param.value = make_integer(param.value.boolean, param.mark);
    }
    check_ctas(params);
    if (Node* slot_bytes = params.find("slot_bytes")) {
        canonicalize_bytes(*slot_bytes);
        check_slot_bytes(*slot_bytes);
    }
}

/// An id alone where there are no parameters, else {id, params}.
void canonicalize_algorithm(Node& algorithm) {
    if (algorithm.kind != Kind::map) return;
    Node id = algorithm.at("id");
    Node* params = algorithm.find("params");
    if (!params || params->entries.empty()) {
        algorithm = std::move(id);
        return;
    }
    canonicalize_params(*params);
    std::vector<Entry> entries{{"id", id.mark, id}, {"params", params->mark, *params}};
    algorithm = make_map(std::move(entries), algorithm.mark);
}

void replace_name(Node& output, const std::string& name) {
    if (output.kind != Kind::text) return;
    constexpr std::string_view placeholder = "{name}";
    for (auto at = output.text.find(placeholder); at != std::string::npos;
         at = output.text.find(placeholder, at)) {
        output.text.replace(at, placeholder.size(), name);
        at += name.size();
    }
    if (output.text.find_first_of("{}") == std::string::npos) return;
    fail(output.mark, "the only thing in braces that `output` knows is `{name}`, found " + shown(output));
}

// Into plain values
// -----------------------------------------------------------------------------------------------

template <class Value, class Read>
std::vector<Value> read_list(const Node& list, Read read) {
    std::vector<Value> values;
    for (const Node& item : list.items) {
        const Value value = read(item);
        if (std::ranges::find(values, value) != values.end())
            fail(item.mark, shown(item) + " is listed twice");
        values.push_back(value);
    }
    return values;
}

AlgorithmChoice read_algorithm(const Node& node) {
    if (node.kind == Kind::text) return {.id = node.text};
    AlgorithmChoice choice{.id = node.at("id").text};
    for (const auto& [key, mark, value] : node.at("params").entries) {
        if (value.kind == Kind::text) {
            choice.words[key] = value.text;
        } else {
            choice.params[key] = value.integer;
        }
    }
    return choice;
}

std::vector<AlgorithmChoice> read_algorithms(const Node& list) {
    std::vector<AlgorithmChoice> choices;
    for (const Node& item : list.items) {
        const AlgorithmChoice choice = read_algorithm(item);
        const bool twice = std::ranges::find(choices, choice) != choices.end();
        if (twice) fail(item.mark, "algorithm `" + choice.id + "` with the same parameters is listed twice");
        choices.push_back(choice);
    }
    return choices;
}

void check_range(const Node& range) {
    const Node& from = range.at("from");
    const Node& to = range.at("to");
    if (from.integer > to.integer) {
        fail(from.mark, "`from` (" + from.text + " bytes) is larger than `to` (" + to.text + " bytes)");
    }
    if (range.find("factor") && from.integer == 0 && to.integer > 0) {
        fail(from.mark, "`from: 0` does not grow by a factor: use a step, or a list of sizes");
    }
    if (const Node* step = range.find("step"); step && step->integer == 0)
        fail(step->mark, "`step` must not be 0");
}

/// The size after this one; nothing where it is past the end, which is also where a multiplication would
/// overflow.
std::optional<std::int64_t> next_size(std::int64_t size, const Node& range, std::int64_t to) {
    if (const Node* step = range.find("step")) {
        if (size > to - step->integer) return std::nullopt;
        return size + step->integer;
    }
    const std::int64_t factor = range.at("factor").integer;
    if (size == 0 || size > to / factor) return std::nullopt;
    return size * factor;
}

void check_cases(std::int64_t cases, const Mark& mark) {
    if (cases > most_cases) fail(mark, "makes more than 100000 cases: take fewer sizes, or larger steps");
}

std::vector<std::int64_t> read_range(const Node& range) {
    check_range(range);
    const std::int64_t to = range.at("to").integer;
    std::vector<std::int64_t> sizes;
    for (std::optional size{range.at("from").integer}; size; size = next_size(*size, range, to)) {
        sizes.push_back(*size);
        check_cases(std::ssize(sizes), range.mark);
    }
    return sizes;
}

std::vector<std::int64_t> read_sizes(const Node& sizes) {
    if (sizes.kind == Kind::map) return read_range(sizes);
    std::vector<std::int64_t> values;
    for (const Node& item : sizes.items) values.push_back(item.integer);
    return values;
}

StartMode read_start(const Node& node) {
    if (node.text == "window") return StartMode::window;
    return node.text == "barrier" ? StartMode::barrier : StartMode::automatic;
}

VerifyMode read_verify(const Node& node) {
    if (node.text == "mantissa") return VerifyMode::mantissa;
    if (node.text == "rank") return VerifyMode::rank;
    return node.text == "real" ? VerifyMode::real : VerifyMode::exact;
}

std::int64_t read_duration(const Node& node) {
    return parse_duration_ns(node.text).value();
}

Variables read_variables(const Node& map) {
    const bool named = map.entries.size() == 1 && map.entries[0].value.kind == Kind::map;
    Variables variables{.name = named ? map.entries[0].key : ""};
    for (const auto& [key, mark, value] : named ? map.entries[0].value.entries : map.entries) {
        variables.values[key] = value.text;
    }
    return variables;
}

void check_names(const std::vector<Variables>& list, const Mark& mark) {
    std::set<std::string> names;
    for (const Variables& one : list) {
        const bool is_new = one.name.empty() || names.insert(one.name).second;
        if (!is_new) fail(mark, "the name `" + one.name + "` is given twice");
    }
}

std::vector<Variables> read_variables_list(const Node& node) {
    const Node list = make_list(as_list(node), node.mark);
    auto variables = read_list<Variables>(list, read_variables);
    check_names(variables, node.mark);
    return variables;
}

std::vector<std::string> read_words(const Node& node) {
    const auto word = [](const Node& n) { return n.kind == Kind::null ? "" : n.text; };
    return read_list<std::string>(make_list(as_list(node), node.mark), word);
}

Launch read_launch(const Node& node) {
    const Node np = make_list(as_list(node.at("np")), node.at("np").mark);
    return {
        .np = read_list<std::int64_t>(np, [](const Node& n) { return n.integer; }),
        .hostfile = read_words(node.at("hostfile")),
        .map_by = read_words(node.at("map_by")),
        .bind_to = read_words(node.at("bind_to")),
        .env = read_variables_list(node.at("env")),
        .mca = read_variables_list(node.at("mca")),
        .timeout_ns = read_duration(node.at("timeout")),
        .launches = node.at("launches").integer,
    };
}

Measure read_measure(const Node& node) {
    return {
        .warmup = node.at("warmup").integer,
        .iterations = node.at("iterations").integer,
        .modes = read_list<Mode>(node.at("mode"), [](const Node& n) { return *mode(n.text); }),
        .start = read_start(node.at("start")),
        .cold_start = node.at("cold_start").boolean,
        .devices_per_rank = node.at("devices_per_rank").integer,
    };
}

TraceSettings read_trace(const Node& node) {
    return {
        .enabled = node.at("enabled").boolean,
        .iterations = node.at("iterations").integer,
        .max_events_per_rank = node.at("max_events_per_rank").integer,
        .max_events_in_memory = node.at("max_events_in_memory").integer,
    };
}

void read_sweep(const Node& sweep, Experiment& experiment) {
    experiment.algorithms = read_algorithms(sweep.at("algorithms"));
    experiment.engines = read_list<std::string>(sweep.at("engines"), [](const Node& n) { return n.text; });
    experiment.sizes = read_sizes(sweep.at("sizes"));
    experiment.dtypes =
        read_list<DataType>(sweep.at("dtypes"), [](const Node& n) { return *data_type(n.text); });
    experiment.ops = read_list<ReduceOp>(sweep.at("ops"), [](const Node& n) { return *reduce_op(n.text); });
    experiment.in_place = read_list<bool>(sweep.at("in_place"), [](const Node& n) { return n.boolean; });
    experiment.offsets =
        read_list<std::int64_t>(sweep.at("offsets"), [](const Node& n) { return n.integer; });
}

void check_number_of_cases(const Experiment& experiment, const Mark& mark) {
    std::int64_t cases = 1;
    for (const std::size_t length :
         {experiment.algorithms.size(), experiment.engines.size(), experiment.sizes.size(),
          experiment.dtypes.size(), experiment.ops.size(), experiment.in_place.size(),
          experiment.offsets.size(), experiment.measure.modes.size()}) {
        cases *= static_cast<std::int64_t>(length);
        check_cases(cases, mark);
    }
}

}  // namespace

void canonicalize(Node& document) {
    canonicalize_launch(document.at("launch"));
    Node& sweep = document.at("sweep");
    for (Node& algorithm : sweep.at("algorithms").items) canonicalize_algorithm(algorithm);
    canonicalize_sizes(sweep.at("sizes"));
    Node& mode = document.at("measure").at("mode");
    mode = make_list(as_list(mode), mode.mark);
    canonicalize_duration(document.at("timeout").at("wait"));
    canonicalize_duration(document.at("timeout").at("case"));
    replace_name(document.at("output"), document.at("name").text);
}

Experiment read_experiment(const Node& document) {
    Experiment experiment;
    experiment.name = document.at("name").text;
    experiment.launch = read_launch(document.at("launch"));
    read_sweep(document.at("sweep"), experiment);
    experiment.measure = read_measure(document.at("measure"));
    experiment.trace = read_trace(document.at("trace"));
    experiment.machine = document.at("machine").at("enabled").boolean;
    experiment.verify = read_verify(document.at("verify").at("mode"));
    experiment.timeout = {
        read_duration(document.at("timeout").at("wait")), read_duration(document.at("timeout").at("case"))};
    const Node& output = document.at("output");
    experiment.output = output.kind == Kind::text ? output.text : "";
    check_number_of_cases(experiment, document.at("sweep").mark);
    return experiment;
}

}  // namespace ringscope::config
