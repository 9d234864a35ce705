// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "app/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>
#include <set>
#include <sstream>

#include "base/time.hpp"
#include "baseline/mpi.hpp"
#include "environment/binding.hpp"
#include "environment/cpu_list.hpp"

namespace ringscope::app {
namespace {

using bootstrap::Bootstrap;
using engine::cuda::CudaEngine;
using engine::cuda::GpuEngine;

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

std::vector<trace::RankEnvironment> share_environment(
    Bootstrap& bootstrap, const environment::Sources& sources
) {
    std::vector<trace::RankEnvironment> ranks;
    const std::string mine = pack(environment::capture_rank(bootstrap.rank(), sources));
    for (const std::string& text : bootstrap.all_gather(mine)) {
        ranks.push_back(unpack(text, static_cast<std::int32_t>(ranks.size())));
    }
    return ranks;
}

bool is_baseline(const Case& point) {
    return point.algorithm.id == baseline::Mpi::id || point.algorithm.id == baseline::Nccl::id;
}

/// The engine on GPUs that a case names.
std::optional<GpuEngine> gpu_engine_of(const Case& point) {
    const engine::Engine* engine = engine::find_engine(point.engine);
    return engine == nullptr || is_baseline(point) ? std::nullopt : engine->gpu;
}

/// The control page, for the signal handler.
std::atomic<engine::host::Control*> terminable{nullptr};

/// mpirun sends SIGTERM, and SIGKILL about a second later, when another rank died. SIGUSR1, which mpirun
/// hands on, asks for the same with more time. In between all waits give up and say what they waited for;
/// where there is none, the alarm ends the process.
void on_terminate(int signal) {
    engine::host::Control* control = terminable.load();
    if (control == nullptr) _exit(128 + signal);
    control->terminated.store(static_cast<std::uint32_t>(signal));
    control->abort.store(1);
    alarm(signal == SIGTERM ? 2 : 20);
}

/// Ranks that are not where the launch asked for would be measured all the same, and compared with others.
void check_binding(
    const options::Options& options, const std::vector<trace::RankEnvironment>& ranks, int rank
) {
    if (!options.expect_binding) return;
    const std::string& asked = *options.expect_binding;
    const std::string fault = asked == "none"
                                  ? environment::unbound_fault(ranks)
                                  : environment::binding_fault(asked, environment::allowed_cpu_list());
    if (fault.empty()) return;
    throw Error{
        ExitCode::usage, "rank " + std::to_string(rank) + " " + fault + "; --expect-binding says " + asked +
                             ": give mpirun --bind-to " + asked + ", or expect what there is"};
}

}  // namespace

std::size_t distinct_cpus(const std::vector<trace::RankEnvironment>& ranks) {
    std::set<std::pair<std::string, int>> cpus;
    for (const trace::RankEnvironment& rank : ranks) {
        for (const int cpu : environment::parse_cpu_list(rank.cpuset)) cpus.emplace(rank.boot_id, cpu);
    }
    return cpus.size();
}

Session::~Session() {
    terminable.store(nullptr);
}

void Session::load_plugins() {
    registry_.emplace(find_plugins(options_));
    step("plugin_load");
    if (!is_first() || options_.verbosity < 1) return;
    for (const auto& refused : registry_->refused()) {
        std::cerr << "refused plugin " << refused.file << ": " << refused.reason << "\n";
    }
}

void Session::connect(const std::vector<Case>& cases, const Timeouts& timeout) {
    ranks_ = share_environment(bootstrap_, {.root = options_.root});
    bootstrap::agree(bootstrap_, [&] { check_binding(options_, ranks_, bootstrap_.rank()); });
    connect_host(cases, timeout);
    connect_gpus(cases, timeout);
    step("bootstrap");
}

bench::HealthProbe Session::health_probe() const {
    const auto rank = static_cast<std::size_t>(bootstrap_.rank());
    std::vector<std::string> gpus;
    if (options_.root != "/") {
        const std::vector<std::string> there = bench::gpus_below(options_.root);
        if (rank < there.size()) gpus.push_back(there[rank]);
    } else if (!ranks_[rank].gpu_pci_id.empty()) {
        gpus.push_back(ranks_[rank].gpu_pci_id);
    }
    return bench::make_health_probe(
        gpus, bootstrap_.local_ranks().front() == bootstrap_.rank(), options_.root
    );
}

void Session::step(const std::string& phase) {
    ladder_.step(phase, now_ns(), engines_ ? bench::inner_phases(*engines_) : bench::InnerPhases{});
}

void Session::connect_host(const std::vector<Case>& cases, const Timeouts& timeout) {
    const bool several_hosts = std::ssize(bootstrap_.local_ranks()) < bootstrap_.size();
    const bool across_hosts = several_hosts && std::ranges::all_of(cases, [](const Case& c) {
                                  return c.algorithm.id == baseline::Mpi::id;
                              });
    host_.emplace(bootstrap_, engine::host::HostOptions{timeout.wait_ns, oversubscribed(), across_hosts});
    terminable.store(&host_->control());
    std::signal(SIGTERM, on_terminate);
    std::signal(SIGUSR1, on_terminate);
    engines_.emplace(bench::Engines{*host_});
    compare_clocks();
}

/// Ranks that share cores take turns, so each round trip takes long.
void Session::compare_clocks() {
    clock::ClockOptions options;
    if (oversubscribed()) options.on_host.rounds = 50;
    clocks_.emplace(bootstrap_, options);
    engines_->clocks = &*clocks_;
    first_comparison_ = clocks_->compare();
    note_clocks();
}

void Session::note_clocks() const {
    std::int64_t error_ns = 0;
    for (int rank = 0; rank < bootstrap_.size(); ++rank) {
        const clock::Line& line = clocks_->of(rank);
        error_ns = std::max(error_ns, line.error_ns);
        if (line.offset_ns == 0 || clocks_->span_hosts()) continue;
        note(
            "the clock of rank " + std::to_string(rank) + " is not that of rank 0 but " +
            std::to_string(line.offset_ns) +
            " ns ahead (a time namespace?): its stamps are moved, and right within " +
            std::to_string(line.error_ns) + " ns"
        );
    }
    if (!clocks_->span_hosts()) return;
    note(
        "the ranks are on several hosts, whose clocks were compared over messages: stamps are moved onto "
        "that of rank 0, and right within " +
        std::to_string(error_ns) + " ns at first"
    );
}

void Session::connect_gpus(const std::vector<Case>& cases, const Timeouts& timeout) {
    const bool asked = std::ranges::any_of(cases, [](const Case& c) {
        return gpu_engine_of(c).has_value() || c.algorithm.id == baseline::Nccl::id;
    });
    const bool left_open =
        std::ranges::any_of(cases, [](const Case& c) { return c.engine == "auto" && !is_baseline(c); });
    const bool suitable = left_open && CudaEngine::unsuitable(bootstrap_).empty();
    if (!asked && !suitable) return;
    try {
        cuda_ = std::make_unique<CudaEngine>(
            bootstrap_, host_->control(),
            engine::cuda::CudaOptions{
                .wait_ns = timeout.wait_ns,
                .allow_shared_gpu = options_.allow_shared_gpu,
                .oversubscribed = oversubscribed(),
                .host_clock = engines_->clock_of(bootstrap_.rank())}
        );
    } catch (const bootstrap::AgreedError& e) {
        // Ranks that are not where they should be: nothing is measured before that is put right.
        if (asked && e.code() == ExitCode::usage) throw;
        engines_->without_cuda = {e.code(), e.what()};
        if (suitable) note("engine auto is host-shm here: " + std::string{e.what()});
        return;
    }
    engines_->cuda = cuda_.get();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        const engine::cuda::Gpu& gpu = cuda_->gpus()[rank];
        ranks_[rank].gpu_name = gpu.name;
        ranks_[rank].gpu_uuid = gpu.uuid;
        ranks_[rank].gpu_pci_id = gpu.pci_id;
    }
    if (suitable) choose_automatic();
    try_named_engines(cases);
    connect_nccl(cases, timeout);
}

/// The fastest that works here.
void Session::choose_automatic() {
    std::string reasons;
    for (const GpuEngine engine : {GpuEngine::p2p, GpuEngine::staged}) {
        const engine::cuda::Refusal& refusal = cuda_->refusal(engine);
        if (refusal.reason.empty()) {
            engines_->automatic = name_of(engine);
            break;
        }
        reasons += (reasons.empty() ? "" : "; ") + refusal.reason;
    }
    if (!reasons.empty()) note("engine auto is " + std::string{engines_->automatic} + " here: " + reasons);
}

/// So that what there is to say of them is known before the output is opened.
void Session::try_named_engines(const std::vector<Case>& cases) {
    std::set<GpuEngine> named;
    for (const Case& point : cases) {
        if (const auto engine = gpu_engine_of(point)) named.insert(*engine);
    }
    for (const GpuEngine engine : named) (void)cuda_->refusal(engine);
}

void Session::note(const std::string& text) const {
    if (is_first() && options_.verbosity >= 0) std::cerr << "note: " << text << "\n";
}

void Session::connect_nccl(const std::vector<Case>& cases, const Timeouts& timeout) {
    const bool asked =
        std::ranges::any_of(cases, [](const Case& c) { return c.algorithm.id == baseline::Nccl::id; });
    if (!asked) return;
    try {
        nccl_ = std::make_unique<baseline::NcclBaseline>(bootstrap_, timeout.wait_ns);
        engines_->nccl = nccl_.get();
    } catch (const Error& e) {
        engines_->without_nccl = {e.code(), e.what()};
    }
}

void Session::close() {
    if (cuda_) cuda_->close();
}

environment::GpuVersions Session::versions() const {
    if (!cuda_) return {};
    const engine::cuda::CudaVersions cuda = CudaEngine::versions();
    return {cuda.driver, cuda.runtime, nccl_ ? baseline::Nccl::version() : ""};
}

}  // namespace ringscope::app
