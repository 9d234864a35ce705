// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/runner.hpp"
#include "bench/watchdog.hpp"
#include "bootstrap/bootstrap.hpp"
#include "config/parse.hpp"
#include "engine/host/engine.hpp"
#include "plugin/registry.hpp"

namespace ringscope::bench {

inline const plugin::PluginRegistry& built_plugins() {
    static const plugin::PluginRegistry registry{std::vector<std::string>{RINGSCOPE_PLUGIN_FOLDER}};
    return registry;
}

inline Experiment experiment_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return parse_experiment(text, "test.yaml", {built_plugins().ids(), {"auto", "host-shm"}}, overrides);
}

/// What a run came to.
struct Outcome {
    ExitCode code = ExitCode::ok;
    std::string first_fault;  ///< rank 0's
    report::TrafficVerdict traffic;
    bool lossy = false;
    std::string late_errors;
};

/// Lets a rank forget its message of this step: it is never sent, and all else is played.
inline void lose_message(schedule::Plan& plan, std::int32_t rank, std::int32_t step) {
    for (schedule::Program& program : plan.programs[0]) {
        if (&program != &plan.programs[0][static_cast<std::size_t>(rank)]) continue;
        for (schedule::Op& op : program.ops) {
            const bool sends_it = op.send_count == 1 && program.sends(op)[0].step == step;
            if (sends_it) op.send_count = 0;
        }
    }
}

/// Keeps the summaries that rank 0 reports.
class KeepingReporter final : public report::Reporter {
 public:
    void begin(const report::RunHeader&) override {}
    void add(const report::CaseSummary& summary) override { cases.push_back(summary); }
    void end(const report::TrafficVerdict&, ExitCode) override {}
    std::vector<report::CaseSummary> cases;
};

/// The whole experiment on ranks as threads; rank 0 has the outputs. A watchdog that expires ends the
/// process.
using Tamper = std::function<void(int rank, const Case&, schedule::Plan&)>;

using MakeProbe = std::function<HealthProbe(int rank)>;

inline Outcome run_on_threads(
    const Experiment& experiment, int ranks, Outputs outputs, const Tamper& tamper = {},
    const machine::Ceilings& ceilings = {}, const MakeProbe& make_probe = {}
) {
    const std::vector<Case> cases = expand(experiment);
    Outcome outcome;
    bootstrap::run_as_threads(ranks, [&](bootstrap::Bootstrap& bootstrap) {
        const bool root = bootstrap.rank() == 0;
        engine::host::HostEngine host{
            bootstrap, {.wait_ns = experiment.timeout.wait_ns, .oversubscribed = true}};
        Watchdog watchdog{[](const std::string&) { std::abort(); }};
        Engines engines{host};
        if (tamper)
            engines.tamper = [&](const Case& point, schedule::Plan& plan) {
                tamper(bootstrap.rank(), point, plan);
            };
        Runner runner{
            bootstrap,
            experiment,
            built_plugins(),
            engines,
            watchdog,
            root ? outputs : Outputs{},
            Timeout::ends_case,
            ceilings,
            make_probe ? make_probe(bootstrap.rank()) : HealthProbe{}};
        const ExitCode code = runner.run(cases);
        if (root)
            outcome = {code, runner.first_fault(), runner.traffic(), runner.lossy(), runner.late_errors()};
        bootstrap.barrier();
    });
    return outcome;
}

}  // namespace ringscope::bench
