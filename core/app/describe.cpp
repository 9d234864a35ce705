// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "base/text.hpp"
#include "baseline/mpi.hpp"
#include "schedule/traffic.hpp"

namespace ringscope::app {
namespace {

using nlohmann::json;
using schedule::Description;

/// The largest number of ranks whose links are worth a line each.
constexpr std::int32_t few_ranks = 16;

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
        {"links", json::array()}};
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
    const Description description = schedule::describe(
        algorithm_named(registry, options.algorithm), options.ranks, message_bytes(options.bytes)
    );
    if (options.json) {
        std::cout << to_json(description).dump(2) << "\n";
    } else {
        print(description);
    }
    const bool equal = !has_closed_form(description) || description.declared == description.closed_form;
    return equal ? ExitCode::ok : ExitCode::wrong_result;
}

}  // namespace ringscope::app
