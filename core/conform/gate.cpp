// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "conform/gate.hpp"

#include <algorithm>

#include "bench/runner.hpp"
#include "conform/paper.hpp"
#include "conform/tally.hpp"

namespace ringscope::conform {
namespace {

FormatOf format_of(const std::string& engine) {
    return [&entry = *engine::find_engine(engine)](Protocol protocol) {
        return engine::format_on(entry, protocol);
    };
}

/// The ways other than the first to play an algorithm on so many ranks.
std::vector<AlgorithmChoice> other_choices(const std::vector<Variant>& variants, std::int32_t ranks) {
    std::vector<AlgorithmChoice> choices;
    for (auto variant = variants.begin() + 1; variant != variants.end(); ++variant) {
        if (variant->supports(ranks)) choices.push_back(variant->choice);
    }
    return choices;
}

/// The fewest slots that wrap; where the proof fails, which is reported there, any number.
std::int64_t slots_of(const Variant& variant, std::int32_t ranks) {
    try {
        return slots_needed(variant, ranks).value_or(most_slots);
    } catch (const Error&) {
        return most_slots;
    }
}

}  // namespace

ExitCode check_on_paper(
    const std::vector<Variant>& variants, const std::vector<std::int32_t>& numbers_of_ranks,
    const Report& report
) {
    ExitCode code = ExitCode::ok;
    for (const Group& group :
         {prove(variants, numbers_of_ranks), compare_with_law(variants, numbers_of_ranks)}) {
        report(group);
        code = worst(code, group.code);
    }
    return code;
}

Gate::Gate(
    bootstrap::Bootstrap& bootstrap, const plugin::PluginRegistry& registry, const bench::Engines& engines,
    bench::Watchdog& watchdog, Extent extent, Report report
)
    : bootstrap_{bootstrap},
      registry_{registry},
      engines_{engines},
      watchdog_{watchdog},
      extent_{extent},
      report_{std::move(report)} {}

ExitCode Gate::run(const std::string& id, const std::string& engine) {
    if (const plugin::Found* found = registry_.find(id)) return try_schedule(*found->algorithm, engine);
    return run_groups(
        {.as_it_is = {.id = id},
         .engine = engine,
         .on_device = id == baseline::Nccl::id,
         .opaque = true,
         .ranks = bootstrap_.size(),
         .extent = extent_}
    );
}

/// An engine that cannot play the algorithm is no reason to leave the others out.
ExitCode Gate::try_schedule(const ringscope_algorithm& algorithm, const std::string& engine) {
    try {
        return run_schedule(algorithm, engine);
    } catch (const Error& e) {
        if (e.code() != ExitCode::unusable_engine) throw;
        Group group{.name = "engine"};
        group.fail(e.code(), e.what());
        report(group);
        return group.code;
    }
}

ExitCode Gate::run_schedule(const ringscope_algorithm& algorithm, const std::string& engine) {
    const std::int32_t ranks = bootstrap_.size();
    const bench::Preparer preparer{bootstrap_, registry_, engines_};
    const Case any{.algorithm = {.id = algorithm.id}, .engine = engine};
    const std::vector<Variant> variants = variants_of(algorithm, format_of(preparer.engine_of(any)));
    Subject subject{
        .as_it_is = any.algorithm,
        .variants = other_choices(variants, ranks),
        .engine = engine,
        .on_device = preparer.on_device(any),
        .ranks = ranks,
        .extent = extent_};
    if (!variants.front().supports(ranks)) return expect_refusal(subject);
    if (ranks == 1) return run_groups(subject);  // a copy: there is no schedule to look at
    subject.slots = slots_of(variants.front(), ranks);
    const ExitCode on_paper = check_paper(variants);
    return worst(on_paper, run_groups(subject));
}

/// The same on all ranks, but one is enough to look.
ExitCode Gate::check_paper(const std::vector<Variant>& variants) {
    std::string code = "0";
    if (bootstrap_.rank() == 0)
        code = std::to_string(static_cast<int>(check_on_paper(variants, {bootstrap_.size()}, report_)));
    bootstrap_.broadcast(code, 0);
    return static_cast<ExitCode>(std::stoi(code));
}

/// An algorithm that has no schedule for so many ranks has to say so before anything is run.
ExitCode Gate::expect_refusal(const Subject& subject) {
    CaseGroup cases = case_groups(subject).front();
    cases.name = "refusal";
    Group group = run_group(cases);
    if (group.code == ExitCode::usage) {
        group = {
            .name = cases.name, .passed = group.failed, .remark = "no schedule for this number of ranks"};
    } else {
        group.fail(ExitCode::wrong_result, "it ran though it has no schedule for this number of ranks");
    }
    report(group);
    return group.code;
}

ExitCode Gate::run_groups(const Subject& subject) {
    ExitCode code = ExitCode::ok;
    bool any_ran = false;
    for (const CaseGroup& cases : case_groups(subject)) {
        const Group group = run_group(cases);
        report(group);
        any_ran = any_ran || group.code != ExitCode::skipped;
        if (group.code != ExitCode::skipped) code = worst(code, group.code);
    }
    return any_ran ? code : ExitCode::skipped;
}

Group Gate::run_group(const CaseGroup& cases) {
    Group group{.name = cases.name};
    Tally tally{group};
    bench::Runner runner{
        bootstrap_,
        cases.experiment,
        registry_,
        engines_,
        watchdog_,
        {bootstrap_.rank() == 0 ? &tally : nullptr, nullptr},
        bench::Timeout::ends_run};
    try {
        group.code = runner.run(expand(cases.experiment));
    } catch (const engine::host::StuckError&) {
        group.code = ExitCode::timeout;
        group.first_failure = runner.first_fault();
        report(group);
        throw;
    }
    group.first_failure = runner.first_fault();
    return group;
}

void Gate::report(const Group& group) const {
    if (bootstrap_.rank() == 0) report_(group);
}

}  // namespace ringscope::conform
