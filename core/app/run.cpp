// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>

#include "app/commands.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "baseline/mpi.hpp"
#include "baseline/nccl.hpp"
#include "bench/runner.hpp"
#include "engine/cuda/engine.hpp"
#include "environment/cpu_list.hpp"
#include "environment/environment.hpp"
#include "mpi/mpi.hpp"

namespace ringscope::app {
namespace {

using bootstrap::Bootstrap;

/// Long enough for rank 0 to finish the file and report before another rank ends the job.
constexpr std::chrono::seconds grace{3};

/// Stamps of the cold start, in the order of the ladder. Durations in ns.
struct ColdStart {
    std::int64_t process_start = 0, mpi_init = 0, plugin_load = 0, bootstrap = 0;
};

template <class Step>
std::int64_t time_ns(Step step) {
    const std::int64_t begin = now_ns();
    step();
    return now_ns() - begin;
}

/// Time since the kernel started this process.
std::int64_t process_age_ns() {
    std::ifstream stat{"/proc/self/stat"};
    std::string text{std::istreambuf_iterator<char>{stat}, {}};
    std::istringstream fields{text.substr(std::min(text.size(), text.rfind(')') + 2))};
    std::string skipped;
    for (int field = 3; field < 22; ++field) fields >> skipped;
    std::int64_t start_ticks = 0;
    fields >> start_ticks;
    timespec boot{};
    clock_gettime(CLOCK_BOOTTIME, &boot);
    const std::int64_t start_ns = start_ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
    return std::max<std::int64_t>(0, std::int64_t{boot.tv_sec} * 1'000'000'000 + boot.tv_nsec - start_ns);
}

void check_launch(const options::Options& options, const Bootstrap& bootstrap) {
    if (options.expect_ranks && *options.expect_ranks != bootstrap.size()) {
        throw Error{
            ExitCode::usage, "the world has " + std::to_string(bootstrap.size()) +
                                 " rank(s), --expect-ranks says " + std::to_string(*options.expect_ranks) +
                                 ": do the launcher and the MPI library match?"};
    }
    const bool needs_launcher = !options.expect_ranks && !options.dry_run && !options.virtual_ranks;
    if (needs_launcher && !mpi::started_by_launcher()) {
        throw Error{
            ExitCode::usage,
            "started without mpirun: use `mpirun -np N ringscope run ...` (or say "
            "--expect-ranks 1 to run a single rank)"};
    }
}

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

std::string pack(const trace::RankEnvironment& e) {
    return e.host + "\n" + e.boot_id + "\n" + std::to_string(e.pid) + "\n" + e.cpuset + "\n" +
           std::to_string(e.numa_node);
}

trace::RankEnvironment unpack(const std::string& text, std::int32_t rank) {
    trace::RankEnvironment e;
    std::istringstream lines{text};
    std::string pid, numa;
    std::getline(lines, e.host);
    std::getline(lines, e.boot_id);
    std::getline(lines, pid);
    std::getline(lines, e.cpuset);
    std::getline(lines, numa);
    e.rank = rank;
    e.pid = std::stoll(pid);
    e.numa_node = std::stoi(numa);
    return e;
}

std::vector<trace::RankEnvironment> share_environment(Bootstrap& bootstrap) {
    std::vector<trace::RankEnvironment> ranks;
    for (const std::string& text : bootstrap.all_gather(pack(environment::capture_rank(bootstrap.rank())))) {
        ranks.push_back(unpack(text, static_cast<std::int32_t>(ranks.size())));
    }
    return ranks;
}

/// CPUs that the ranks may run on, all together.
std::size_t distinct_cpus(const std::vector<trace::RankEnvironment>& ranks) {
    std::set<std::pair<std::string, int>> cpus;
    for (const trace::RankEnvironment& rank : ranks) {
        for (const int cpu : environment::parse_cpu_list(rank.cpuset)) cpus.emplace(rank.boot_id, cpu);
    }
    return cpus.size();
}

trace::RunInfo run_info(
    const Experiment& experiment, const Arguments& arguments,
    const std::vector<trace::RankEnvironment>& ranks, const environment::GpuVersions& versions
) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    trace::RunInfo info;
    info.resolved_config = experiment.resolved_text;
    info.original_config = experiment.original_text;
    info.config_sha256 = experiment.sha256;
    info.command_line = "ringscope " + join(arguments, " ");
    info.creator_version = environment::program_version();
    info.run_uuid = environment::run_uuid();
    info.file_time = environment::iso8601_now();
    info.world_size = static_cast<std::int32_t>(ranks.size());
    info.epoch_monotonic_ns = now_ns() - 1;
    info.epoch_realtime_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    info.ranks = ranks;
    info.facts = environment::capture_facts();
    info.facts.push_back({"mpi.library", mpi::library_version()});
    for (const trace::Fact& fact : environment::gpu_facts(versions)) info.facts.push_back(fact);
    return info;
}

/// How the sizes grow, as nccl-tests writes it.
std::string step_of(const std::vector<std::int64_t>& sizes) {
    if (sizes.size() < 2) return "0(bytes)";
    const std::int64_t first = std::max<std::int64_t>(sizes[0], 1), step = sizes[1] - sizes[0],
                       factor = sizes[1] / first;
    bool grows = true, multiplies = true;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        grows = grows && sizes[i] - sizes[i - 1] == step;
        multiplies = multiplies && sizes[i] == sizes[i - 1] * factor;
    }
    if (multiplies) return std::to_string(factor) + "(factor)";
    return grows ? std::to_string(step) + "(bytes)" : "list";
}

report::RunHeader header_of(
    const Experiment& experiment, const std::vector<Case>& cases,
    const std::vector<trace::RankEnvironment>& ranks, bool oversubscribed
) {
    report::RunHeader header;
    header.version = environment::program_version();
    header.name = experiment.name;
    header.ranks = ranks;
    const auto by_bytes = std::ranges::minmax_element(cases, {}, &Case::bytes);
    header.min_bytes = by_bytes.min->bytes;
    header.max_bytes = by_bytes.max->bytes;
    header.step = step_of(experiment.sizes);
    header.warmup = experiment.measure.warmup;
    header.iterations = experiment.measure.iterations;
    header.mode = cases.front().mode;
    header.statistic = report::statistic_of(header.mode, experiment.measure.iterations);
    header.both_places = experiment.in_place.size() == 2;
    if (oversubscribed) {
        header.warning = std::to_string(ranks.size()) + " ranks on " + std::to_string(distinct_cpus(ranks)) +
                         " cores: times are no measurement";
    }
    header.output = experiment.output;
    return header;
}

std::vector<trace::ColdRow> pack_cold(const ColdStart& cold, std::int32_t rank) {
    return {
        {"process_start", rank, cold.process_start},
        {"mpi_init", rank, cold.mpi_init},
        {"plugin_load", rank, cold.plugin_load},
        {"bootstrap", rank, cold.bootstrap}};
}

/// The cold-start ladder of all ranks; what rank 0 alone knows comes last.
void store_cold(
    Bootstrap& bootstrap, trace::TraceWriter* writer, const ColdStart& cold, std::int64_t first_collective
) {
    const std::string mine{reinterpret_cast<const char*>(&cold), sizeof(cold)};
    const std::vector<std::string> all = bootstrap.gather(mine, 0);
    if (writer == nullptr) return;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        ColdStart other;
        std::copy_n(all[rank].data(), sizeof(other), reinterpret_cast<char*>(&other));
        writer->append(pack_cold(other, static_cast<std::int32_t>(rank)));
    }
    if (first_collective != trace::not_available) {
        writer->append(std::vector<trace::ColdRow>{{"first_collective", 0, first_collective}});
    }
}

/// The ranks of one host share CLOCK_MONOTONIC: offset 0; a GPU's clock has its own.
std::vector<trace::ClockRow> clocks(
    Bootstrap& bootstrap, const engine::cuda::CudaEngine* cuda, const std::string& anchor
) {
    const engine::cuda::DeviceClock own =
        cuda == nullptr ? engine::cuda::DeviceClock{} : cuda->measure_clock();
    const std::string mine{reinterpret_cast<const char*>(&own), sizeof(own)};
    std::vector<trace::ClockRow> rows;
    for (const std::string& bytes : bootstrap.all_gather(mine)) {
        engine::cuda::DeviceClock clock;
        std::copy_n(bytes.data(), sizeof(clock), reinterpret_cast<char*>(&clock));
        rows.push_back(
            {.rank = static_cast<std::int32_t>(rows.size()),
             .anchor = anchor,
             .offset_ns = clock.offset_ns,
             .error_bound_ns = clock.error_bound_ns}
        );
    }
    return rows;
}

bool is_baseline(const Case& point) {
    return point.algorithm.id == baseline::Mpi::id || point.algorithm.id == baseline::Nccl::id;
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

/// The control page, for the signal handler.
std::atomic<engine::host::Control*> terminable{nullptr};

/// mpirun sends SIGTERM, and SIGKILL about a second later, when another rank died. In between all waits give
/// up and say what they waited for; where there is none, the alarm ends the process.
void on_terminate(int) {
    engine::host::Control* control = terminable.load();
    if (control == nullptr) _exit(128 + SIGTERM);
    control->terminated.store(1);
    control->abort.store(1);
    alarm(2);
}

/// Ends the job after a peer stopped answering. Rank 0 speaks for all; where rank 0 itself is the silent one,
/// another rank does after a while.
[[noreturn]] void end_job(engine::host::Control* control, const Bootstrap& bootstrap, const Error& e) {
    const bool hurry = control != nullptr && control->terminated.load() != 0;
    if (bootstrap.rank() != 0 && !hurry) std::this_thread::sleep_for(grace);
    if (control == nullptr || control->reporter.exchange(1) == 0) {
        std::cerr << "ringscope: " << e.what() << std::endl;
        std::cout.flush();
        if (bootstrap.shares_address_space()) std::_Exit(static_cast<int>(e.code()));
        mpi::abort(static_cast<int>(e.code()));
    }
    std::this_thread::sleep_for(grace);
    std::_Exit(static_cast<int>(e.code()));
}

/// One run after MPI is up: what the top of the file promises, in order.
class Run {
 public:
    Run(Bootstrap& bootstrap, const options::Options& options, const Arguments& arguments, ColdStart cold)
        : bootstrap_{bootstrap}, options_{options}, arguments_{arguments}, cold_{cold} {}

    ~Run() { terminable.store(nullptr); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    ExitCode go() {
        check_launch(options_, bootstrap_);
        load_plugins();
        experiment_ = share_experiment(bootstrap_, options_, vocabulary(*registry_));
        cases_ = expand(experiment_);
        cold_.bootstrap = time_ns([&] { connect(); });
        if (options_.dry_run) return show();
        open_outputs();
        return measure();
    }

    [[nodiscard]] engine::host::Control* control() { return host_ ? &host_->control() : nullptr; }

 private:
    void load_plugins() {
        cold_.plugin_load = time_ns([&] { registry_.emplace(find_plugins(options_)); });
        if (bootstrap_.rank() != 0 || options_.verbosity < 1) return;
        for (const auto& refused : registry_->refused()) {
            std::cerr << "refused plugin " << refused.file << ": " << refused.reason << "\n";
        }
    }

    void connect() {
        ranks_ = share_environment(bootstrap_);
        oversubscribed_ = distinct_cpus(ranks_) < ranks_.size();
        host_.emplace(bootstrap_, engine::host::HostOptions{experiment_.timeout.wait_ns, oversubscribed_});
        terminable.store(&host_->control());
        std::signal(SIGTERM, on_terminate);
        engines_.emplace(bench::Engines{*host_});
        connect_gpus();
    }

    /// GPUs are taken when a case names them, or when they are what `auto` means here.
    void connect_gpus() {
        const bool asked = std::ranges::any_of(cases_, [](const Case& c) {
            return c.engine == engine::cuda::CudaEngine::name || c.algorithm.id == baseline::Nccl::id;
        });
        const bool left_open =
            std::ranges::any_of(cases_, [](const Case& c) { return c.engine == "auto" && !is_baseline(c); });
        const bool suitable = left_open && engine::cuda::CudaEngine::unsuitable(bootstrap_).empty();
        if (!asked && !suitable) return;
        try {
            cuda_ = std::make_unique<engine::cuda::CudaEngine>(
                bootstrap_, host_->control(),
                engine::cuda::CudaOptions{
                    .wait_ns = experiment_.timeout.wait_ns, .allow_shared_gpu = options_.allow_shared_gpu}
            );
        } catch (const bootstrap::AgreedError& e) {
            engines_->without_cuda = {e.code(), e.what()};
            if (suitable && bootstrap_.rank() == 0)
                std::cerr << "note: engine auto is host-shm here: " << e.what() << "\n";
            return;
        }
        engines_->cuda = cuda_.get();
        engines_->auto_is_cuda = suitable;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            const engine::cuda::Gpu& gpu = cuda_->gpus()[rank];
            ranks_[rank].gpu_name = gpu.name;
            ranks_[rank].gpu_uuid = gpu.uuid;
            ranks_[rank].gpu_pci_id = gpu.pci_id;
        }
        connect_nccl();
    }

    void connect_nccl() {
        const bool asked =
            std::ranges::any_of(cases_, [](const Case& c) { return c.algorithm.id == baseline::Nccl::id; });
        if (!asked || bootstrap_.shares_address_space()) return;
        try {
            nccl_ = std::make_unique<baseline::NcclBaseline>(bootstrap_, experiment_.timeout.wait_ns);
            engines_->nccl = nccl_.get();
        } catch (const Error& e) {
            engines_->without_nccl = {e.code(), e.what()};
        }
    }

    [[nodiscard]] environment::GpuVersions versions() const {
        if (!cuda_) return {};
        const engine::cuda::CudaVersions cuda = engine::cuda::CudaEngine::versions();
        return {cuda.driver, cuda.runtime, nccl_ ? baseline::Nccl::version() : ""};
    }

    ExitCode show() {
        const bench::Preparer preparer{bootstrap_, *registry_, *engines_};
        if (bootstrap_.rank() == 0) show_cases(cases_, preparer);
        return ExitCode::ok;
    }

    void open_outputs() {
        const std::vector<trace::ClockRow> clock_rows = clocks(bootstrap_, cuda_.get(), "before");
        bootstrap::agree(bootstrap_, [&] {
            if (bootstrap_.rank() != 0) return;
            if (!experiment_.output.empty()) {
                writer_.emplace(
                    experiment_.output, run_info(experiment_, arguments_, ranks_, versions()), options_.force
                );
                writer_->append(clock_rows);
            }
            const auto format = options_.json  ? report::Format::json
                                : options_.csv ? report::Format::csv
                                               : report::Format::table;
            reporter_ = report::make_reporter(format, std::cout);
            reporter_->begin(header_of(experiment_, cases_, ranks_, oversubscribed_));
        });
    }

    ExitCode measure() {
        bench::Watchdog watchdog{[this](const std::string& stage) {
            end_job(
                control(), bootstrap_, {ExitCode::timeout, stage + " has not ended in time (timeout.case)"}
            );
        }};
        bench::Runner runner{bootstrap_, experiment_, *registry_,
                             *engines_,  watchdog,    {reporter_.get(), writer_ ? &*writer_ : nullptr}};
        ExitCode code = runner.run(cases_);
        if (cuda_) {
            const std::vector<trace::ClockRow> clock_rows = clocks(bootstrap_, cuda_.get(), "after");
            if (writer_) writer_->append(clock_rows);
        }
        store_cold(bootstrap_, writer_ ? &*writer_ : nullptr, cold_, runner.first_collective_ns());
        bootstrap::agree(bootstrap_, [&] {
            if (writer_) writer_->finish(runner.lossy());
        });
        if (cuda_) cuda_->close();
        if (reporter_) reporter_->end(runner.traffic(), code);
        if (bootstrap_.rank() == 0 && !runner.first_fault().empty()) {
            std::cerr << "ringscope: " << runner.first_fault() << "\n";
        }
        return code;
    }

    Bootstrap& bootstrap_;
    const options::Options& options_;
    const Arguments& arguments_;
    ColdStart cold_;
    Experiment experiment_;
    std::vector<Case> cases_;
    std::vector<trace::RankEnvironment> ranks_;
    bool oversubscribed_ = false;
    std::optional<plugin::PluginRegistry> registry_;
    std::optional<engine::host::HostEngine> host_;
    std::unique_ptr<engine::cuda::CudaEngine> cuda_;
    std::unique_ptr<baseline::NcclBaseline> nccl_;
    std::optional<bench::Engines> engines_;
    std::optional<trace::TraceWriter> writer_;
    std::unique_ptr<report::Reporter> reporter_;
};

ExitCode run_on(Bootstrap& bootstrap, Run& run) {
    try {
        return run.go();
    } catch (const bootstrap::AgreedError& e) {
        if (bootstrap.rank() == 0) std::cerr << "ringscope: " << e.what() << "\n";
        return e.code();
    } catch (const Error& e) {
        if (e.code() != ExitCode::usage) end_job(run.control(), bootstrap, e);
        if (bootstrap.rank() == 0) std::cerr << "ringscope: " << e.what() << "\n";
        return e.code();
    } catch (const std::exception& e) {
        end_job(run.control(), bootstrap, {ExitCode::internal, std::string{"internal error: "} + e.what()});
    }
}

}  // namespace

namespace {

/// The ranks are processes that mpirun started.
ExitCode run_processes(const options::Options& options, const Arguments& arguments) {
    ColdStart cold{.process_start = process_age_ns()};
    std::optional<mpi::Session> session;
    cold.mpi_init = time_ns([&] { session.emplace(); });
    const std::unique_ptr<Bootstrap> bootstrap = bootstrap::make_mpi_bootstrap();
    Run run{*bootstrap, options, arguments, cold};
    return run_on(*bootstrap, run);
}

/// The ranks are threads of this process. On a GPU their kernels must be resident together: with streams that
/// do not wait for each other in the hardware's queues, and with all code loaded beforehand.
ExitCode run_threads(const options::Options& options, const Arguments& arguments) {
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    std::vector<ExitCode> codes(static_cast<std::size_t>(*options.virtual_ranks), ExitCode::internal);
    bootstrap::run_as_threads(*options.virtual_ranks, [&](Bootstrap& bootstrap) {
        Run run{bootstrap, options, arguments, ColdStart{.process_start = process_age_ns()}};
        codes[static_cast<std::size_t>(bootstrap.rank())] = run_on(bootstrap, run);
        bootstrap.barrier();
    });
    return codes[0];
}

}  // namespace

ExitCode run(const options::Options& options, const Arguments& arguments) {
    return options.virtual_ranks ? run_threads(options, arguments) : run_processes(options, arguments);
}

}  // namespace ringscope::app
