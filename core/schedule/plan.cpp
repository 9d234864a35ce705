// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/plan.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "schedule/placement.hpp"
#include "schedule/proof.hpp"
#include "schedule/rehearsal.hpp"

namespace ringscope::schedule {
namespace {

std::string title(const ringscope_algorithm& algorithm, const PlanRequest& request) {
    std::string text = algorithm.id;
    for (std::size_t i = 0; i < request.options.size(); ++i)
        text += std::string{i == 0 ? " with " : ", "} + algorithm.options[i].name + " " +
                std::to_string(request.options[i]);
    return text + " on " + std::to_string(request.ranks) + " ranks: ";
}

std::vector<std::int32_t> members_of(const ringscope_algorithm& algorithm, const PlanRequest& request) {
    std::vector<std::int32_t> members;
    for (std::int32_t rank = 0; rank < request.ranks; ++rank) {
        const ringscope_place place = place_of(request, rank);
        if (algorithm.takes_part == nullptr || algorithm.takes_part(&place) != 0) members.push_back(rank);
    }
    if (members.empty())
        throw Error{ExitCode::wrong_result, title(algorithm, request) + "no rank takes part"};
    return members;
}

/// A slot holds whole lines, so that lines are aligned in all of them.
std::int64_t whole_lines(const ringscope_algorithm& algorithm, const PlanRequest& request) {
    const LinkFormat& link = request.link;
    if (link.slot_payload(request.slot_bytes) > 0)
        return request.slot_bytes / link.line_bytes * link.line_bytes;
    throw Error{
        ExitCode::usage, title(algorithm, request) + "a slot of " + std::to_string(request.slot_bytes) +
                             " bytes is too small, a line of " + std::string{name_of(link.protocol)} +
                             " has " + std::to_string(link.line_bytes) + " (params: slot_bytes)"};
}

/// More would be a plan larger than most machines' memory.
constexpr std::int64_t most_slices = std::int64_t{1} << 22;

/// Slices so that no message of the largest chunk exceeds what `parts` slots hold.
std::int64_t slices_for(const Plan& plan) {
    const PlanRequest& request = plan.request;
    const std::int64_t message = plan.parts * request.link.slot_payload(request.slot_bytes);
    std::int64_t largest = 0;
    for (std::int32_t c : {0, plan.chunks - 1}) {
        const Range chunk = cut({0, request.bytes}, plan.chunks, c);
        for (std::int32_t channel : {0, request.channels - 1}) {
            largest = std::max(largest, cut(chunk, request.channels, channel).size);
        }
    }
    const std::int64_t slices = largest == 0 ? 1 : (largest - 1) / message + 1;
    if (slices <= most_slices) return slices;
    throw Error{
        ExitCode::usage, "a message of " + std::to_string(request.bytes) + " bytes would go in " +
                             std::to_string(slices) + " slices; at most " + std::to_string(most_slices) +
                             " are planned: larger slots make fewer (params: slot_bytes)"};
}

void record_all(const ringscope_algorithm& algorithm, Plan& plan) {
    const PlanRequest& request = plan.request;
    plan.programs.assign(static_cast<std::size_t>(request.channels), {});
    for (std::int32_t channel = 0; channel < request.channels; ++channel) {
        for (std::int32_t rank = 0; rank < request.ranks; ++rank) {
            ringscope_place place = place_of(request, rank);
            place.channel = channel;
            place.slices = plan.slices;
            place.in_flight = std::clamp<std::int64_t>(request.slots / plan.parts, 1, plan.slices);
            plan.programs[static_cast<std::size_t>(channel)].push_back(record(algorithm, place));
        }
    }
}

void prove(const ringscope_algorithm& algorithm, const Plan& plan) {
    for (const auto& programs : plan.programs) {
        for (const bool in_place : {false, true}) {
            const std::string fault = disprove(programs, plan.chunks, plan.slices, in_place, plan.members);
            if (fault.empty()) continue;
            throw Error{
                ExitCode::wrong_result,
                title(algorithm, plan.request) + "the schedule is not an all-reduce: " + fault};
        }
    }
}

/// The circle of waits in some channel, or "" when all of them play to the end with the slots there are.
std::string deadlock(const Plan& plan) {
    for (const auto& programs : plan.programs) {
        const Ending ending = rehearse(programs, {.slots = plan.request.slots, .parts = plan.parts});
        if (!ending.complete()) return ending.text();
    }
    return "";
}

std::int64_t most_messages(const Plan& plan) {
    std::int64_t most = 0;
    for (const auto& programs : plan.programs) {
        for (const Program& program : programs) {
            for (const Message& message : program.messages) most = std::max(most, message.seq + 1);
        }
    }
    return most;
}

}  // namespace

ringscope_place place_of(const PlanRequest& request, std::int32_t rank) {
    return {
        .size = sizeof(ringscope_place),
        .ranks = request.ranks,
        .rank = rank,
        .channels = request.channels,
        .channel = 0,
        .slices = 1,
        .in_flight = 1,
        .options = request.options.empty() ? nullptr : request.options.data()};
}

std::int32_t chunks_of(const ringscope_algorithm& algorithm, const PlanRequest& request) {
    const std::int32_t chunks = chunks_at(algorithm, place_of(request, 0));
    if (chunks < 1)
        throw Error{ExitCode::usage, title(algorithm, request) + "does not support this number of ranks"};
    return chunks;
}

Range Plan::piece(std::int32_t channel, std::int32_t chunk, std::int64_t slice) const {
    const Range whole = cut({0, request.bytes}, chunks, chunk);
    return cut(cut(whole, request.channels, channel), slices, slice);
}

std::vector<std::int64_t> usual_options(const ringscope_algorithm& algorithm) {
    std::vector<std::int64_t> values;
    for (std::int32_t i = 0; i < algorithm.option_count; ++i) values.push_back(algorithm.options[i].usual);
    return values;
}

Plan make_plan(const ringscope_algorithm& algorithm, const PlanRequest& request) {
    Plan plan;
    plan.request = request;
    if (request.options.empty()) plan.request.options = usual_options(algorithm);
    plan.request.slot_bytes = whole_lines(algorithm, plan.request);
    plan.chunks = chunks_of(algorithm, plan.request);
    plan.members = members_of(algorithm, plan.request);
    std::string cycle;
    for (plan.parts = std::max(request.link.parts, request.link.min_parts);
         plan.parts >= request.link.min_parts; --plan.parts) {
        plan.slices = slices_for(plan);
        record_all(algorithm, plan);
        prove(algorithm, plan);
        cycle = deadlock(plan);
        if (!cycle.empty()) continue;
        for (auto& programs : plan.programs) {
            plan.steps = std::max(plan.steps, number_messages(programs, plan.chunks));
            if (request.link.protocol == Protocol::simple)
                place_messages(programs, plan.chunks, plan.slices, request.direct);
        }
        plan.most_messages = most_messages(plan);
        return plan;
    }
    throw Error{
        ExitCode::usage, title(algorithm, request) + "deadlock with " + std::to_string(request.slots) +
                             " slots per connection, give it more (params: slots): " + cycle};
}

std::int64_t parts_of(const Plan& plan, std::int64_t bytes, std::int64_t min_part_bytes) {
    const bool is_short = bytes < plan.parts * min_part_bytes;
    const bool fits = bytes <= plan.request.link.slot_payload(plan.request.slot_bytes);
    return is_short && fits ? 1 : plan.parts;
}

std::int64_t events_per_operation(const Plan& plan, std::int32_t rank) {
    std::int64_t events = 0;
    for (std::int32_t channel = 0; channel < plan.request.channels; ++channel) {
        const Program& program =
            plan.programs[static_cast<std::size_t>(channel)][static_cast<std::size_t>(rank)];
        for (const Op& op : program.ops) {
            if (plan.piece(channel, op).size > 0) events += op.recv_count + op.send_count;
        }
    }
    return events;
}

}  // namespace ringscope::schedule
