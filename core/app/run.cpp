// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <iostream>

#include "app/commands.hpp"
#include "app/ranks.hpp"
#include "app/record.hpp"
#include "bench/runner.hpp"
#include "machine/survey.hpp"

namespace ringscope::app {
namespace {

using bootstrap::Bootstrap;

Experiment read_experiment(const options::Options& options, const Vocabulary& words) {
    std::vector<std::string> overrides = options.set;
    if (options.output) overrides.push_back(output_override(*options.output));
    if (!options.config) return experiment_from_letters(options.letters, words, overrides);
    return parse_experiment(read_experiment_file(*options.config), *options.config, words, overrides);
}

/// Rank 0 alone reads; the others get the validated result.
Experiment share_experiment(Bootstrap& bootstrap, const options::Options& options, const Vocabulary& words) {
    Experiment experiment;
    bootstrap::agree(bootstrap, [&] {
        if (bootstrap.rank() == 0) experiment = read_experiment(options, words);
    });
    std::string resolved = experiment.resolved_text, original = experiment.original_text;
    bootstrap.broadcast(resolved, 0);
    bootstrap.broadcast(original, 0);
    bootstrap::agree(bootstrap, [&] {
        if (bootstrap.rank() != 0) experiment = parse_resolved(resolved, original, words);
    });
    return experiment;
}

void show_cases(const std::vector<Case>& cases, const bench::Preparer& preparer) {
    for (const Case& point : cases) {
        const auto plan = preparer.plan(point);
        std::cout << point.index << " " << report::label(point.algorithm) << " " << name_of(point.mode) << " "
                  << name_of(point.dtype) << " " << name_of(point.op) << " " << point.bytes << " bytes"
                  << (point.in_place ? " in place" : "");
        if (plan) std::cout << ", " << plan->steps << " steps, " << plan->slices << " slices";
        std::cout << "\n";
    }
}

/// One run of one rank, once its plugins are loaded: what the top of the file promises, in order.
class Run {
 public:
    Run(Session& session, const Experiment& experiment, const options::Options& options,
        const Arguments& arguments)
        : session_{session},
          options_{options},
          arguments_{arguments},
          experiment_{experiment},
          cases_{expand(experiment)} {}

    ExitCode go() {
        session_.connect(cases_, experiment_.timeout);
        if (options_.dry_run) return show();
        if (experiment_.machine) survey();
        open_outputs();
        return measure();
    }

 private:
    ExitCode show() {
        const bench::Preparer preparer{session_.bootstrap(), session_.registry(), session_.engines()};
        if (session_.is_first()) show_cases(cases_, preparer);
        return ExitCode::ok;
    }

    /// Of the engines that the cases are played on.
    void survey() {
        const bench::Preparer preparer{session_.bootstrap(), session_.registry(), session_.engines()};
        machine::Ground ground{session_.engines().host, session_.cuda(), {}};
        for (const Case& point : cases_) {
            const std::string engine = preparer.engine_of(point);
            if (std::ranges::find(ground.names, engine) == ground.names.end()) ground.names.push_back(engine);
        }
        constexpr std::int64_t limit_ns = 60'000'000'000;
        bench::Watchdog watchdog{[this](const std::string& reason) {
            end_job(session_, {ExitCode::timeout, reason});
        }};
        watchdog.enter("measuring the machine has not ended in 60 s (machine.enabled)", limit_ns);
        survey_ = machine::survey(session_.bootstrap(), ground);
        session_.step("machine");
    }

    void open_outputs() {
        const bench::ClockRecord clocks = clocks_before(session_);
        const std::vector<trace::Fact> more_facts = staged_facts(session_);
        bootstrap::agree(session_.bootstrap(), [&] {
            if (!session_.is_first()) return;
            if (!experiment_.output.empty()) {
                trace::RunInfo info = run_info(experiment_, arguments_, session_);
                info.facts.insert(info.facts.end(), more_facts.begin(), more_facts.end());
                info.facts.insert(info.facts.end(), survey_.facts.begin(), survey_.facts.end());
                writer_.emplace(experiment_.output, info, options_.force);
                store(clocks);
                writer_->append(survey_.rows);
            }
            const auto format = options_.json  ? report::Format::json
                                : options_.csv ? report::Format::csv
                                               : report::Format::table;
            reporter_ = report::make_reporter(format, std::cout);
            reporter_->begin(header_of(experiment_, cases_, session_));
        });
        name_spills();
        session_.step("output");
    }

    /// Every rank has a spill of its own, where it needs one; what they hold is told by the uuid of the run.
    void name_spills() {
        if (experiment_.output.empty()) return;
        std::string uuid = writer_ ? writer_->run_uuid() : "";
        session_.bootstrap().broadcast(uuid, 0);
        const std::int32_t rank = session_.bootstrap().rank();
        spill_ = {
            trace::spill_name(experiment_.output, rank), {.is_log = false, .rank = rank, .run_uuid = uuid}};
        const std::string log = trace::log_name(experiment_.output);
        session_.set_legacy(
            "what was measured until then: ringscope convert " + log + "* --output " + experiment_.output +
            ".recovered.h5"
        );
    }

    ExitCode measure() {
        std::atomic<bench::Runner*> running{nullptr};
        bench::Watchdog watchdog{[&](const std::string& reason) {
            ExitCode code = ExitCode::timeout;
            if (bench::Runner* held_up = running.load()) {
                held_up->abandon(reason);
                code = worst(code, held_up->worst());
            }
            end_job(session_, {code, reason});
        }};
        bench::Runner runner{
            session_.bootstrap(),
            experiment_,
            session_.registry(),
            session_.engines(),
            watchdog,
            {reporter_.get(), writer(), spill_, options_.verbosity > 0, &session_.ladder()},
            bench::Timeout::ends_case,
            machine::Ceilings{survey_.rows},
            session_.health_probe()};
        running.store(&runner);
        const ExitCode code = run_cases(runner);
        running.store(nullptr);
        watchdog.enter("finishing the output has not ended in 300 s", finishing_ns);
        finish_file(runner);
        session_.close();
        watchdog.leave();
        if (reporter_) reporter_->end(runner.traffic(), code);
        if (!runner.late_errors().empty())
            std::cerr << "note: after the last case: " + runner.late_errors() + "\n";
        if (session_.is_first() && !runner.first_fault().empty()) complain(runner.first_fault());
        return code;
    }

    /// Where the run ends early, what it had to say until then is said all the same, and the worst of it
    /// counts.
    ExitCode run_cases(bench::Runner& runner) {
        try {
            return runner.run(cases_);
        } catch (const engine::host::StuckError& e) {
            throw Error{worst(runner.worst(), e.code()), e.what()};  // the runner has ended the report
        } catch (const bootstrap::AgreedError& e) {
            end_report(runner, e.code());
            throw bootstrap::AgreedError{worst(runner.worst(), e.code()), e.what()};
        } catch (const Error& e) {
            end_report(runner, e.code());
            throw Error{worst(runner.worst(), e.code()), e.what()};
        }
    }

    void end_report(const bench::Runner& runner, ExitCode code) {
        if (reporter_) reporter_->end(runner.traffic(), worst(runner.worst(), code));
    }

    void finish_file(const bench::Runner& runner) {
        store(clocks_after(session_));
        store_cold(session_, writer());
        bootstrap::agree(session_.bootstrap(), [&] {
            if (writer_) writer_->finish(runner.lossy());
        });
    }

    void store(const bench::ClockRecord& clocks) {
        if (!writer_) return;
        writer_->append(clocks.rows);
        writer_->append(clocks.exchanges);
    }

    static constexpr std::int64_t finishing_ns = 300'000'000'000;

    [[nodiscard]] trace::TraceWriter* writer() { return writer_ ? &*writer_ : nullptr; }

    Session& session_;
    const options::Options& options_;
    const Arguments& arguments_;
    const Experiment& experiment_;
    std::vector<Case> cases_;
    machine::Survey survey_;
    std::optional<trace::TraceWriter> writer_;
    bench::SpillPlace spill_;
    std::unique_ptr<report::Reporter> reporter_;
};

}  // namespace

ExitCode run(const options::Options& options, const Arguments& arguments) {
    return on_all_ranks(options, [&](Session& session) {
        const Experiment experiment =
            share_experiment(session.bootstrap(), options, vocabulary(session.registry()));
        session.step("config");
        const auto body = [&](Session& own) { return Run{own, experiment, options, arguments}.go(); };
        const std::int64_t devices = experiment.measure.devices_per_rank;
        return devices > 1 ? on_all_devices(session, devices, body) : body(session);
    });
}

}  // namespace ringscope::app
