// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/traffic.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/rehearsal.hpp"

namespace ringscope::schedule {

std::int64_t LinkBytes::sent_by(std::int32_t rank) const {
    const auto row = bytes_.begin() + static_cast<std::ptrdiff_t>(index(rank, 0));
    return std::accumulate(row, row + ranks_, std::int64_t{0});
}
std::int64_t LinkBytes::total() const {
    return std::accumulate(bytes_.begin(), bytes_.end(), std::int64_t{0});
}
std::int64_t LinkBytes::busiest() const {
    return bytes_.empty() ? 0 : *std::ranges::max_element(bytes_);
}

DeclaredTraffic declared_traffic(const Plan& plan) {
    DeclaredTraffic traffic{LinkBytes{plan.request.ranks}, LinkBytes{plan.request.ranks}};
    for (std::int32_t channel = 0; channel < plan.request.channels; ++channel) {
        for (std::int32_t rank = 0; rank < plan.request.ranks; ++rank) {
            const Program& program =
                plan.programs[static_cast<std::size_t>(channel)][static_cast<std::size_t>(rank)];
            for (const Op& op : program.ops) {
                const std::int64_t bytes = plan.piece(channel, op).size;
                for (const Message& m : program.sends(op)) {
                    traffic.payload.at(rank, m.peer) += bytes;
                    traffic.wire.at(rank, m.peer) += plan.request.link.wire_bytes(bytes);
                }
            }
        }
    }
    return traffic;
}

LinkBytes closed_form_traffic(const ringscope_algorithm& algorithm, PlanRequest request) {
    if (request.options.empty()) request.options = usual_options(algorithm);
    const ringscope_place place = place_of(request, 0);
    LinkBytes traffic{request.ranks};
    for (std::int32_t src = 0; src < request.ranks; ++src) {
        for (std::int32_t dst = 0; dst < request.ranks; ++dst) {
            traffic.at(src, dst) = algorithm.closed_form == nullptr ? -1
                                   : src == dst                     ? 0
                                                : algorithm.closed_form(&place, request.bytes, src, dst);
        }
    }
    return traffic;
}

namespace {

std::vector<DrawnMessage> draw(const Plan& plan) {
    std::vector<DrawnMessage> messages;
    for (std::int32_t rank = 0; rank < plan.request.ranks; ++rank) {
        const Program& program = plan.programs[0][static_cast<std::size_t>(rank)];
        for (const Op& op : program.ops) {
            const std::int64_t bytes = plan.piece(0, op).size;
            if (bytes == 0) continue;
            for (const Message& m : program.sends(op))
                messages.push_back({m.step, op.phase, rank, m.peer, op.chunk, bytes});
        }
    }
    std::ranges::sort(messages);
    return messages;
}

}  // namespace

Description describe(
    const ringscope_algorithm& algorithm, std::int32_t ranks, std::int64_t bytes,
    const std::vector<std::int64_t>& options
) {
    const PlanRequest request{
        .ranks = ranks,
        .bytes = bytes,
        .channels = 1,
        .slots = unlimited_slots,
        .slot_bytes = std::max<std::int64_t>(bytes + cut_unit, cut_unit),
        .link = {},
        .options = options.empty() ? usual_options(algorithm) : options};
    Description description{
        .id = algorithm.id,
        .text = algorithm.description,
        .protocol = static_cast<Protocol>(algorithm.protocol),
        .ranks = ranks,
        .bytes = bytes,
        .option_names = {},
        .options = request.options,
        .messages = {},
        .declared = LinkBytes{ranks},
        .closed_form = LinkBytes{ranks}};
    for (std::int32_t i = 0; i < algorithm.option_count; ++i)
        description.option_names.emplace_back(algorithm.options[i].name);
    if (ranks == 1) return description;
    const Plan plan = make_plan(algorithm, request);
    description.steps = plan.steps;
    description.chunks = plan.chunks;
    description.messages = draw(plan);
    description.declared = declared_traffic(plan).payload;
    description.closed_form = closed_form_traffic(algorithm, plan.request);
    return description;
}

}  // namespace ringscope::schedule
