// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "baseline/mpi.hpp"
#include "schedule/traffic.hpp"

namespace ringscope::app {
namespace {

using nlohmann::json;
using schedule::Description;

/// The largest number of ranks whose links are worth a line each, and whose steps are.
constexpr std::int32_t few_ranks = 16, drawn_ranks = 8;

constexpr const char* phase_names[] = {"reduce-scatter", "all-gather", "reduce", "broadcast"};

struct Totals {
    std::int64_t min = 0, max = 0, total = 0;
    double mean = 0;
};

/// Bytes that the ranks send.
Totals totals_of(const schedule::LinkBytes& bytes) {
    Totals totals{.min = bytes.sent_by(0), .max = bytes.sent_by(0), .total = bytes.total()};
    for (std::int32_t rank = 1; rank < bytes.ranks(); ++rank) {
        totals.min = std::min(totals.min, bytes.sent_by(rank));
        totals.max = std::max(totals.max, bytes.sent_by(rank));
    }
    totals.mean = static_cast<double>(totals.total) / bytes.ranks();
    return totals;
}

bool has_closed_form(const Description& d) {
    return d.ranks == 1 || d.closed_form.at(0, d.ranks - 1) >= 0;
}

template <class Visit>
void for_each_link(const Description& d, Visit visit) {
    for (std::int32_t src = 0; src < d.ranks; ++src) {
        for (std::int32_t dst = 0; dst < d.ranks; ++dst) {
            if (d.declared.at(src, dst) > 0 || d.closed_form.at(src, dst) > 0) visit(src, dst);
        }
    }
}

json to_json(const Description& d) {
    const Totals totals = totals_of(d.declared);
    json root{
        {"algorithm", d.id},
        {"description", d.text},
        {"protocol", name_of(d.protocol)},
        {"ranks", d.ranks},
        {"bytes", d.bytes},
        {"chunks", d.chunks},
        {"steps", d.steps},
        {"sent_bytes_per_rank",
         {{"min", totals.min}, {"mean", totals.mean}, {"max", totals.max}, {"total", totals.total}}},
        {"busiest_link_bytes", d.declared.busiest()},
        {"traffic_equal", !has_closed_form(d) ? json{} : json(d.declared == d.closed_form)},
        {"options", json::object()},
        {"links", json::array()},
        {"messages", json::array()}};
    for (std::size_t i = 0; i < d.options.size(); ++i) root["options"][d.option_names[i]] = d.options[i];
    for (const schedule::DrawnMessage& m : d.messages) {
        root["messages"].push_back(
            {{"step", m.step},
             {"phase", phase_names[m.phase]},
             {"src", m.src},
             {"dst", m.dst},
             {"chunk", m.chunk},
             {"bytes", m.bytes}}
        );
    }
    for_each_link(d, [&](std::int32_t src, std::int32_t dst) {
        const std::int64_t law = d.closed_form.at(src, dst);
        root["links"].push_back(
            {{"src", src},
             {"dst", dst},
             {"declared_bytes", d.declared.at(src, dst)},
             {"closed_form_bytes", law < 0 ? json{} : json(law)}}
        );
    });
    return root;
}

void print_links(const Description& d) {
    if (d.ranks > few_ranks) {
        std::cout << fmt::format("links     one line per link with --json (more than {} ranks)\n", few_ranks);
        return;
    }
    std::cout << fmt::format("{:<9} {:>15} {:>15}\n", "link", "declared", "closed form");
    for_each_link(d, [&](std::int32_t src, std::int32_t dst) {
        const std::int64_t law = d.closed_form.at(src, dst);
        std::cout << fmt::format(
            "{:<9} {:>15} {:>15}\n", fmt::format("{} -> {}", src, dst), d.declared.at(src, dst),
            law < 0 ? "none" : std::to_string(law)
        );
    });
}

/// One line per step and phase: who sends which chunk to whom.
void print_steps(const Description& d) {
    if (d.ranks > drawn_ranks || d.messages.empty()) return;
    std::cout << fmt::format("\n{:<4} {:<14} {}\n", "step", "phase", "messages: from > to [chunk]");
    for (auto m = d.messages.begin(); m != d.messages.end();) {
        std::string line;
        const auto first = m;
        for (; m != d.messages.end() && m->step == first->step && m->phase == first->phase; ++m)
            line += fmt::format("  {}>{} [{}]", m->src, m->dst, m->chunk);
        std::cout << fmt::format("{:<4} {:<14}{}\n", first->step, phase_names[first->phase], line);
    }
    std::cout << "\n";
}

void print(const Description& d) {
    const Totals totals = totals_of(d.declared);
    std::cout << fmt::format("{}: {}\n", d.id, d.text)
              << fmt::format(
                     "ranks     {}\nmessage   {} bytes ({})\n", d.ranks, d.bytes, format_bytes(d.bytes)
                 )
              << fmt::format("steps     {}\nchunks    {}\n", d.steps, d.chunks)
              << fmt::format(
                     "each rank sends  min {}  mean {:.3f}  max {}  total {} bytes of payload\n", totals.min,
                     totals.mean, totals.max, totals.total
                 )
              << fmt::format("busiest link     {} bytes\n", d.declared.busiest());
    print_steps(d);
    print_links(d);
    const char* verdict = !has_closed_form(d)           ? "no closed form to compare with"
                          : d.declared == d.closed_form ? "declared = closed form on every link"
                                                        : "declared DIFFERS from the closed form";
    std::cout << "traffic   " << verdict << "\n";
}

std::int64_t message_bytes(const std::string& text) {
    const auto bytes = parse_bytes(text);
    if (!bytes) throw Error{ExitCode::usage, "--bytes " + text + " is no size (100MB, 4MiB, 1000003)"};
    return *bytes;
}

/// The algorithm's options with the words NAME=N put in.
std::vector<std::int64_t> options_of(
    const ringscope_algorithm& algorithm, const std::vector<std::string>& words
) {
    std::vector<std::int64_t> values = schedule::usual_options(algorithm);
    for (const std::string& word : words) {
        const std::string name = word.substr(0, word.find('='));
        const auto value = word == name ? std::nullopt : parse_bytes(word.substr(name.size() + 1));
        bool taken = false;
        for (std::size_t i = 0; value && i < values.size(); ++i) {
            const ringscope_option& option = algorithm.options[i];
            if (name != option.name || *value < option.least || *value > option.most) continue;
            values[i] = *value;
            taken = true;
        }
        if (!taken)
            throw Error{
                ExitCode::usage, "--param " + word + " is no option of " + algorithm.id +
                                     " within its bounds: `ringscope list` shows them"};
    }
    return values;
}

const ringscope_algorithm& algorithm_named(const plugin::PluginRegistry& registry, const std::string& id) {
    if (id == baseline::Mpi::id || id == nccl_id) {
        throw Error{
            ExitCode::usage, "the traffic of " + id + " is not observable: it has no schedule to describe"};
    }
    const plugin::Found* found = registry.find(id);
    if (found == nullptr) throw Error{ExitCode::usage, unknown_algorithm(id, vocabulary(registry))};
    return *found->algorithm;
}

}  // namespace

ExitCode describe(const options::Options& options) {
    const plugin::PluginRegistry registry = find_plugins(options);
    const ringscope_algorithm& algorithm = algorithm_named(registry, options.algorithm);
    const Description description = schedule::describe(
        algorithm, options.ranks, message_bytes(options.bytes), options_of(algorithm, options.params)
    );
    if (options.json) {
        std::cout << json_text(to_json(description)) << "\n";
    } else {
        print(description);
    }
    const bool equal = !has_closed_form(description) || description.declared == description.closed_form;
    return equal ? ExitCode::ok : ExitCode::wrong_result;
}

}  // namespace ringscope::app
