// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/ranks.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "conform/gate.hpp"
#include "conform/paper.hpp"
#include "mpi/mpi.hpp"

namespace ringscope::app {
namespace {

using conform::Group;
using nlohmann::json;
namespace fs = std::filesystem;

bool is_file(const std::string& subject) {
    return subject.ends_with(".so");
}

/// A plugin that is named by its file is looked for in the file's folder first.
options::Options with_folders_of_files(options::Options options) {
    for (const std::string& subject : options.subjects) {
        if (is_file(subject))
            options.plugin_path.insert(options.plugin_path.begin(), fs::absolute(subject).parent_path());
    }
    return options;
}

std::vector<std::string> ids_of_file(const plugin::PluginRegistry& registry, const std::string& file) {
    const auto is_it = [&](const auto& found) {
        std::error_code unreadable;
        return fs::equivalent(found.file, file, unreadable);
    };
    std::vector<std::string> ids;
    for (const plugin::Found& found : registry.algorithms()) {
        if (is_it(found)) ids.emplace_back(found.algorithm->id);
    }
    for (const plugin::Refused& refused : registry.refused()) {
        if (is_it(refused)) throw Error{ExitCode::usage, refused.file + ": " + refused.reason};
    }
    if (ids.empty()) throw Error{ExitCode::usage, file + ": no such plugin"};
    return ids;
}

/// The ids that the command line names, one by one or by the file of their plugin.
std::vector<std::string> ids_of(
    const plugin::PluginRegistry& registry, const std::vector<std::string>& subjects
) {
    const Vocabulary words = vocabulary(registry);
    std::vector<std::string> ids;
    for (const std::string& subject : subjects) {
        if (is_file(subject)) {
            std::ranges::copy(ids_of_file(registry, subject), std::back_inserter(ids));
        } else if (std::ranges::count(words.algorithms, subject) > 0) {
            ids.push_back(subject);
        } else {
            throw Error{ExitCode::usage, unknown_algorithm(subject, words)};
        }
    }
    return ids;
}

void check_engine(const std::string& engine, const Vocabulary& words) {
    if (engine == "auto" || std::ranges::count(words.engines, engine) > 0) return;
    throw Error{
        ExitCode::usage, "unknown engine `" + engine + "`: give auto or one of " + join(words.engines, ", ")};
}

json to_json(const Group& group) {
    return {{"group", group.name},      {"passed", group.passed}, {"failed", group.failed},
            {"skipped", group.skipped}, {"remark", group.remark}, {"first_failure", group.first_failure}};
}

std::string text_of(const Group& group) {
    std::string text = fmt::format("  {:<9} {:>5} passed", group.name, group.passed);
    if (group.failed > 0) text += fmt::format(", {} failed", group.failed);
    if (group.skipped > 0) text += fmt::format(", {} skipped", group.skipped);
    if (!group.remark.empty()) text += " (" + group.remark + ")";
    if (!group.first_failure.empty()) text += "\n    " + group.first_failure;
    return text + "\n";
}

/// Writes down what becomes of each algorithm, as text at once or as one JSON object at the end.
class Printer {
 public:
    Printer(bool as_json, std::string where) : as_json_{as_json}, where_{std::move(where)} {}

    void begin(const std::string& id) {
        id_ = id;
        passed_ = failed_ = 0;
        groups_ = json::array();
        if (!as_json_) std::cout << "conform " << id_ << " " << where_ << "\n" << std::flush;
    }

    void add(const Group& group) {
        passed_ += group.passed;
        failed_ += group.failed;
        groups_.push_back(to_json(group));
        if (first_failure_.empty() && !group.first_failure.empty())
            first_failure_ = "conform " + id_ + " " + where_ + ": " + group.name + ": " + group.first_failure;
        if (!as_json_) std::cout << text_of(group) << std::flush;
    }

    void end() {
        all_.push_back({{"algorithm", id_}, {"passed", passed_}, {"failed", failed_}, {"groups", groups_}});
        if (!as_json_)
            std::cout << fmt::format("conform {} {}: {} passed, {} failed\n", id_, where_, passed_, failed_);
        id_.clear();
    }

    /// Ends the algorithm that was begun, if one was, and the output.
    void close() {
        if (!id_.empty()) end();
        if (as_json_) std::cout << json_text(all_) << "\n";
        std::cout << std::flush;
    }

    /// In words, with the algorithm; "" when there is none.
    [[nodiscard]] const std::string& first_failure() const { return first_failure_; }

 private:
    bool as_json_;
    std::string where_, id_, first_failure_;
    std::int64_t passed_ = 0, failed_ = 0;
    json groups_, all_ = json::array();
};

std::string on_ranks(int ranks) {
    return fmt::format("on {} {}", ranks, ranks == 1 ? "rank" : "ranks");
}

conform::Extent extent_of(const options::Options& options) {
    return options.full ? conform::Extent::full : conform::Extent::reduced;
}

/// Without ranks: for many numbers of them, what can be shown without running anything.
ExitCode conform_on_paper(const options::Options& options) {
    const plugin::PluginRegistry registry = find_plugins(options);
    Printer printer{options.json, "on paper"};
    ExitCode code = ExitCode::ok;
    for (const std::string& id : ids_of(registry, options.subjects)) {
        const plugin::Found* found = registry.find(id);
        if (found == nullptr) throw Error{ExitCode::usage, id + " has no schedule: start it with mpirun"};
        printer.begin(id);
        code = worst(
            code,
            conform::check_on_paper(
                conform::variants_of(*found->algorithm, engine::host::HostEngine::format),
                conform::numbers_of_ranks(extent_of(options)), [&](const Group& group) { printer.add(group); }
            )
        );
        printer.end();
    }
    printer.close();
    if (!printer.first_failure().empty()) complain(printer.first_failure());
    return code;
}

std::vector<Case> one_case_of_each(const std::vector<std::string>& ids, const std::string& engine) {
    std::vector<Case> cases;
    for (const std::string& id : ids) cases.push_back({.algorithm = {.id = id}, .engine = engine});
    return cases;
}

/// The gate on the ranks that there are, one algorithm after the other.
ExitCode conform_on_ranks(Session& session, const options::Options& options) {
    check_engine(options.engine, vocabulary(session.registry()));
    const std::vector<std::string> ids = ids_of(session.registry(), options.subjects);
    session.connect(one_case_of_each(ids, options.engine), {});
    Printer printer{options.json, on_ranks(session.bootstrap().size())};
    bench::Watchdog watchdog{[&](const std::string& reason) {
        end_job(session, {ExitCode::timeout, reason});
    }};
    conform::Gate gate{session.bootstrap(), session.registry(),
                       session.engines(),   watchdog,
                       extent_of(options),  [&](const Group& group) { printer.add(group); }};
    ExitCode code = ExitCode::ok;
    for (const std::string& id : ids) {
        if (session.is_first()) printer.begin(id);
        try {
            code = worst(code, gate.run(id, options.engine));
        } catch (const engine::host::StuckError&) {
            if (session.is_first()) printer.close();
            throw;
        }
        if (session.is_first()) printer.end();
    }
    session.close();
    if (session.is_first()) printer.close();
    if (!printer.first_failure().empty()) complain(printer.first_failure());
    return code;
}

}  // namespace

ExitCode conform(const options::Options& given) {
    const options::Options options = with_folders_of_files(given);
    if (!options.virtual_ranks && !mpi::started_by_launcher()) return conform_on_paper(options);
    return on_all_ranks(options, [&](Session& session) { return conform_on_ranks(session, options); });
}

}  // namespace ringscope::app
