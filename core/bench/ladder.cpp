// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder.hpp"

#include <algorithm>

namespace ringscope::bench {
namespace {

/// In the order in which they happen.
constexpr std::pair<const char*, std::int64_t InnerPhases::*> inner_names[] = {
    {"first_launch", &InnerPhases::first_launch},
    {"ipc_open", &InnerPhases::ipc_open},
    {"nccl_init", &InnerPhases::nccl_init}};

}  // namespace

InnerPhases inner_phases(const Engines& engines) {
    InnerPhases inner;
    if (engines.nccl != nullptr) inner.nccl_init = engines.nccl->init_ns();
    if (engines.cuda == nullptr) return inner;
    const engine::cuda::ColdSteps steps = engines.cuda->cold_steps();
    inner.ipc_open = steps.ipc_open_ns;
    inner.first_launch = steps.first_launch_ns;
    return inner;
}

Ladder::Ladder(std::int64_t start_ns, std::int64_t main_ns) : start_ns_{start_ns}, last_ns_{main_ns} {
    add("process_start", main_ns - start_ns);
}

void Ladder::step(const std::string& phase, std::int64_t now_ns, const InnerPhases& inner) {
    if (finished_) return;
    std::int64_t own = now_ns - last_ns_;
    for (const auto& [name, member] : inner_names) {
        if (inner.*member == trace::not_available) continue;
        const std::int64_t more = inner.*member - std::max<std::int64_t>(0, inner_.*member);
        inner_.*member = inner.*member;
        add(name, more);
        own -= more;
    }
    add(phase, own);
    last_ns_ = now_ns;
}

void Ladder::finish(
    std::int32_t case_index, std::int64_t enter_ns, std::int64_t exit_ns, const InnerPhases& inner
) {
    if (finished_) return;
    step("prepare", enter_ns, inner);
    phases_.back().case_index = case_index;
    phases_.push_back({"total", exit_ns - start_ns_, case_index});
    finished_ = true;
}

std::vector<trace::ColdRow> Ladder::rows(std::int32_t rank) const {
    std::vector<trace::ColdRow> rows;
    for (const Phase& phase : phases_) rows.push_back({phase.name, rank, phase.case_index, phase.ns});
    return rows;
}

void Ladder::add(const std::string& phase, std::int64_t ns) {
    const auto known = std::ranges::find(phases_, phase, &Phase::name);
    if (known == phases_.end()) {
        phases_.push_back({phase, ns});
    } else {
        known->ns += ns;
    }
}

}  // namespace ringscope::bench
