// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "options/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>

#include <boost/program_options.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "options/pages.hpp"
#include "ringscope/abi.h"

namespace po = boost::program_options;

namespace ringscope::options {
namespace {

constexpr std::string_view arguments_name = "arguments";
constexpr std::array letter_names{"minbytes", "maxbytes",     "stepfactor", "stepbytes",
                                  "iters",    "warmup_iters", "datatype",   "op",
                                  "check",    "graph",        "algorithms", "ngpus"};
constexpr int most_ranks = 65536, most_virtual_ranks = 64;
constexpr std::int64_t most_launches = 999'999, largest_seed = (std::int64_t{1} << 53) - 1;
constexpr std::array bindings{"none", "hwthread", "core", "numa", "socket", "package"};

// What a person may know from the documentation or from nccl-tests, with the reason why it is not taken.
struct Refusal {
    std::string_view word, reason;
};
constexpr std::array future_commands{"simulate"};
constexpr std::array<Refusal, 4> refused_options{{
    {"-t", "a rank has one thread: leave -t out and start the ranks with mpirun -np N"},
    {"--nthreads", "a rank has one thread: leave --nthreads out and start the ranks with mpirun -np N"},
}};

Error usage(const std::string& what) {
    return Error{ExitCode::usage, what};
}

Error usage(const Page& page, const std::string& what) {
    return usage(what + " (see ringscope " + std::string{page.name} + " --help)");
}

std::string suggestion(const std::string& word, std::span<const std::string> candidates) {
    const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
    const auto found = std::ranges::find_if(candidates, begins);
    const std::string best =
        found != candidates.end() && word.size() > 2 ? *found : nearest(word, candidates);
    return best.empty() ? "" : ", did you mean " + best + "?";
}

const Page& page_named(const std::string& name) {
    if (const Page* page = find_page(name)) return *page;
    if (std::ranges::find(future_commands, name) != future_commands.end()) {
        throw usage("ringscope " + name + ": not in this version (see ringscope --help)");
    }
    std::vector<std::string> names;
    for (const Page& page : pages()) names.emplace_back(page.name);
    throw usage("unknown command " + name + suggestion(name, names) + " (see ringscope --help)");
}

po::options_description every_option_of(Command command) {
    po::options_description all = visible_options(command);
    all.add_options()(arguments_name.data(), po::value<std::vector<std::string>>());
    return all;
}

std::vector<std::string> long_names(const po::options_description& described) {
    std::vector<std::string> names;
    for (const auto& option : described.options()) {
        const auto [first, count] = option->long_names();
        for (std::size_t i = 0; i < count; ++i) names.push_back("--" + first[i]);
    }
    return names;
}

/// "--name" of "--name=value", "-x" of "-xvalue".
std::string without_value(const std::string& token) {
    return token.starts_with("--") ? token.substr(0, token.find('=')) : token.substr(0, 2);
}

Error unknown_option(const Page& page, const std::string& token) {
    const std::string word = without_value(token);
    const auto refused = std::ranges::find(refused_options, word, &Refusal::word);
    if (refused != refused_options.end()) return usage(page, std::string{refused->reason});
    const auto names = long_names(visible_options(page.command));
    const std::string near = word.starts_with("--") ? suggestion(word, names) : "";
    return usage(page, "unknown option " + word + near);
}

struct Parsed {
    po::variables_map values;
    std::vector<std::string> arguments;  ///< those that are no options
    int verbosity = 0;
};

int verbosity_of(const po::parsed_options& parsed) {
    const auto times = [&](std::string_view name) {
        return static_cast<int>(std::ranges::count(parsed.options, name, &po::option::string_key));
    };
    return times("verbose") - times("quiet");
}

Parsed parse_words(const Page& page, std::span<const std::string> words) {
    const po::options_description described = every_option_of(page.command);
    po::positional_options_description positions;
    positions.add(arguments_name.data(), -1);
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const po::parsed_options parsed =
        po::command_line_parser(std::vector<std::string>{words.begin(), words.end()})
            .options(described)
            .positional(positions)
            .style(style)
            .run();
    Parsed result;
    po::store(parsed, result.values);
    if (result.values.count(arguments_name.data())) {
        result.arguments = result.values[arguments_name.data()].as<std::vector<std::string>>();
    }
    result.verbosity = verbosity_of(parsed);
    return result;
}

Parsed parse_page(const Page& page, std::span<const std::string> words) {
    try {
        return parse_words(page, words);
    } catch (const po::unknown_option& error) {
        throw unknown_option(page, error.get_option_name());
    } catch (const po::error& error) {
        throw usage(page, error.what());
    }
}

std::optional<std::string> text_of(const po::variables_map& values, const char* name) {
    if (!values.count(name)) return std::nullopt;
    return values[name].as<std::string>();
}

std::vector<std::string> texts_of(const po::variables_map& values, const char* name) {
    if (!values.count(name)) return {};
    return values[name].as<std::vector<std::string>>();
}

bool given(const po::variables_map& values, const char* name) {
    return values.count(name) && values[name].as<bool>();
}

struct Limits {
    std::int64_t least, most;
};

std::optional<std::int64_t> number_of(
    const Page& page, const po::variables_map& values, const char* name, Limits limits
) {
    const auto text = text_of(values, name);
    if (!text) return std::nullopt;
    std::int64_t number = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, number);
    if (error != std::errc{} || stop != end || number < limits.least || number > limits.most) {
        throw usage(
            page, "--" + std::string{name} + " takes a whole number from " + std::to_string(limits.least) +
                      " to " + std::to_string(limits.most) + ", not `" + *text + "`"
        );
    }
    return number;
}

std::optional<int> ranks_of(
    const Page& page, const po::variables_map& values, const char* name, int most = most_ranks
) {
    const auto number = number_of(page, values, name, {1, most});
    return number ? std::optional{static_cast<int>(*number)} : std::nullopt;
}

Letters letters_of(const po::variables_map& values) {
    return Letters{
        .min_bytes = text_of(values, "minbytes"),
        .max_bytes = text_of(values, "maxbytes"),
        .factor = text_of(values, "stepfactor"),
        .increment = text_of(values, "stepbytes"),
        .iterations = text_of(values, "iters"),
        .warmup = text_of(values, "warmup_iters"),
        .dtype = text_of(values, "datatype"),
        .op = text_of(values, "op"),
        .check = text_of(values, "check"),
        .graph = text_of(values, "graph"),
        .algorithms = text_of(values, "algorithms"),
        .devices = text_of(values, "ngpus"),
    };
}

Options common_options(const Page& page, const Parsed& parsed) {
    Options options;
    options.command = page.command;
    options.json = given(parsed.values, "json");
    options.plugin_path = texts_of(parsed.values, "plugin-path");
    options.verbosity = parsed.verbosity;
    return options;
}

void expect_arguments(const Page& page, const Parsed& parsed, std::size_t least, std::size_t most) {
    const auto& words = parsed.arguments;
    if (words.size() < least)
        throw usage(page, std::string{page.name} + " needs " + std::string{page.argument});
    if (words.size() > most) throw usage(page, "one word too many: " + words[most]);
}

std::optional<std::string> binding_of(const Page& page, const po::variables_map& values) {
    const auto word = text_of(values, "expect-binding");
    if (!word || std::ranges::find(bindings, *word) != bindings.end()) return word;
    const std::vector<std::string> known{bindings.begin(), bindings.end()};
    throw usage(page, "--expect-binding takes " + join(known, ", ") + ", not `" + *word + "`");
}

void read_batch(const Page& page, const Parsed& parsed, Options& options) {
    options.batch_uuid = text_of(parsed.values, "batch-uuid").value_or("");
    options.launch_index = number_of(page, parsed.values, "launch-index", {0, most_launches}).value_or(0);
    options.seed = number_of(page, parsed.values, "seed", {0, largest_seed}).value_or(0);
}

void read_run(const Page& page, const Parsed& parsed, Options& options) {
    expect_arguments(page, parsed, 0, 1);
    if (!parsed.arguments.empty()) options.config = parsed.arguments[0];
    options.set = texts_of(parsed.values, "set");
    options.output = text_of(parsed.values, "output");
    options.force = given(parsed.values, "force");
    options.csv = given(parsed.values, "csv");
    options.dry_run = given(parsed.values, "dry-run");
    options.expect_ranks = ranks_of(page, parsed.values, "expect-ranks");
    options.expect_binding = binding_of(page, parsed.values);
    read_batch(page, parsed, options);
    options.root = text_of(parsed.values, "root").value_or("/");
    options.allow_shared_gpu = given(parsed.values, "allow-shared-gpu");
    options.virtual_ranks = ranks_of(page, parsed.values, "virtual-ranks", most_virtual_ranks);
    options.letters = letters_of(parsed.values);
}

bool has_letters(const Parsed& parsed) {
    return std::ranges::any_of(letter_names, [&](const char* name) { return parsed.values.count(name) > 0; });
}

void check_run(const Page& page, const Parsed& parsed, const Options& options) {
    if (options.json && options.csv) throw usage(page, "--json and --csv exclude each other: give one");
    if (options.config && has_letters(parsed)) {
        throw usage(page, "nccl-tests' letters stand for a file: give either them or " + *options.config);
    }
    if (options.virtual_ranks && options.expect_ranks && options.virtual_ranks != options.expect_ranks) {
        throw usage(page, "--virtual-ranks is the number of ranks: leave --expect-ranks out");
    }
}

void read_describe(const Page& page, const Parsed& parsed, Options& options) {
    expect_arguments(page, parsed, 1, 1);
    options.algorithm = parsed.arguments[0];
    const auto ranks = ranks_of(page, parsed.values, "ranks");
    const auto bytes = text_of(parsed.values, "bytes");
    if (!ranks || !bytes) throw usage(page, "describe needs --ranks N and --bytes M");
    if (!parse_bytes(*bytes))
        throw usage(page, "--bytes takes a size like 4096, 64KiB or 100MB, not `" + *bytes + "`");
    options.ranks = *ranks;
    options.bytes = *bytes;
    options.params = texts_of(parsed.values, "param");
}

void read_validate(const Page& page, const Parsed& parsed, Options& options) {
    expect_arguments(page, parsed, 1, 1);
    options.config = parsed.arguments[0];
}

void read_conform(const Page& page, const Parsed& parsed, Options& options) {
    expect_arguments(page, parsed, 1, parsed.arguments.size());
    options.subjects = parsed.arguments;
    options.full = given(parsed.values, "full");
    options.engine = text_of(parsed.values, "engine").value_or("auto");
    options.allow_shared_gpu = given(parsed.values, "allow-shared-gpu");
    options.virtual_ranks = ranks_of(page, parsed.values, "virtual-ranks", most_virtual_ranks);
}

void read_convert(const Page& page, const Parsed& parsed, Options& options) {
    expect_arguments(page, parsed, 1, parsed.arguments.size());
    options.subjects = parsed.arguments;
    options.output = text_of(parsed.values, "output");
    options.force = given(parsed.values, "force");
}

void read_doctor(const Page& page, const Parsed& parsed, Options& options) {
    expect_arguments(page, parsed, 0, 0);
    options.root = text_of(parsed.values, "root").value_or("/");
    options.record = text_of(parsed.values, "record");
    options.pair_test = !given(parsed.values, "no-pair-test");
}

Options read_page(const Page& page, const Parsed& parsed) {
    Options options = common_options(page, parsed);
    switch (page.command) {
        case Command::run:
            read_run(page, parsed, options);
            check_run(page, parsed, options);
            break;
        case Command::describe:
            read_describe(page, parsed, options);
            break;
        case Command::validate:
            read_validate(page, parsed, options);
            break;
        case Command::conform:
            read_conform(page, parsed, options);
            break;
        case Command::convert:
            read_convert(page, parsed, options);
            break;
        case Command::doctor:
            read_doctor(page, parsed, options);
            break;
        default:
            expect_arguments(page, parsed, 0, 0);
    }
    return options;
}

Options help_about(std::optional<Command> topic) {
    Options options;
    options.command = Command::help;
    options.help_topic = topic;
    return options;
}

Options version_asked() {
    Options options;
    options.command = Command::version;
    return options;
}

bool is_help(std::string_view word) {
    return word == "help" || word == "--help" || word == "-h";
}

Options parse_command(const Page& page, std::span<const std::string> words) {
    const Parsed parsed = parse_page(page, words);
    if (given(parsed.values, "help")) return help_about(page.command);
    if (given(parsed.values, "version")) return version_asked();
    return read_page(page, parsed);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream{std::string{text}};
    for (std::string part; std::getline(stream, part, separator);) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

}  // namespace

Options parse_options(std::span<const std::string> args) {
    if (args.empty()) throw usage("no command given (see ringscope --help)");
    const std::string& first = args.front();
    const auto rest = args.subspan(1);
    if (first == "--version") return version_asked();
    if (is_help(first))
        return help_about(rest.empty() ? std::nullopt : std::optional{page_named(rest[0]).command});
    if (first.starts_with('-'))
        throw usage("the command comes first: ringscope run " + first + " ... (see ringscope --help)");
    return parse_command(page_named(first), rest);
}

std::string help_text(std::optional<Command> topic) {
    return topic ? page_text(*topic) : overview_text();
}

std::string version_text() {
    return "ringscope " RINGSCOPE_VERSION "\nplugin ABI " + std::to_string(RINGSCOPE_ABI_VERSION) + "\n";
}

std::vector<std::string> plugin_path(
    const Options& options, const std::function<const char*(const char*)>& getenv
) {
    std::vector<std::string> folders = options.plugin_path;
    if (const char* text = getenv("RINGSCOPE_PLUGIN_PATH")) {
        std::ranges::copy(split(text, ':'), std::back_inserter(folders));
    }
    return folders;
}

}  // namespace ringscope::options
