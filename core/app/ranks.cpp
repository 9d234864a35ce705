// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "app/ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <sstream>
#include <thread>

#include "environment/cpu_list.hpp"
#include "mpi/mpi.hpp"

namespace ringscope::app {
namespace {

using bootstrap::Bootstrap;
using Body = std::function<ExitCode(Session&)>;

/// Long enough for rank 0 to finish the file and report before another rank ends the job.
constexpr std::chrono::seconds grace{3};

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

bench::Ladder begin_ladder() {
    const std::int64_t now = now_ns();
    return {now - process_age_ns(), now};
}

void check_launch(const options::Options& options, const Bootstrap& bootstrap) {
    if (!std::filesystem::is_directory(options.root))
        throw Error{ExitCode::usage, "--root " + options.root + " is no folder"};
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

void complain_and_leave(const Session& session, const Error& e) {
    complain(e.what());
    if (!session.legacy().empty()) std::cerr << "note: " + session.legacy() + "\n" << std::flush;
}

ExitCode run_rank(
    Bootstrap& bootstrap, const options::Options& options, bench::Ladder ladder, const Body& body
) {
    Session session{bootstrap, options, std::move(ladder)};
    try {
        bootstrap::agree(bootstrap, [&] { check_launch(options, bootstrap); });
        session.step("bootstrap");
        session.load_plugins();
        return body(session);
    } catch (const bootstrap::AgreedError& e) {
        if (session.is_first()) complain_and_leave(session, e);
        return e.code();
    } catch (const Error& e) {
        if (e.code() != ExitCode::usage) end_job(session, e);
        if (session.is_first()) complain(e.what());
        return e.code();
    } catch (const std::bad_alloc&) {
        end_job(session, {ExitCode::out_of_memory, "there is not enough memory left on this host"});
    } catch (const std::exception& e) {
        end_job(session, {ExitCode::internal, std::string{"internal error: "} + e.what()});
    }
}

/// The ranks are processes that mpirun started.
ExitCode run_processes(const options::Options& options, const Body& body) {
    bench::Ladder ladder = begin_ladder();
    const mpi::Session session;
    ladder.step("mpi_init", now_ns());
    const std::unique_ptr<Bootstrap> bootstrap = bootstrap::make_mpi_bootstrap();
    return run_rank(*bootstrap, options, std::move(ladder), body);
}

/// The ranks are threads of this process.
ExitCode run_threads(const options::Options& options, const bench::Ladder& ladder, const Body& body) {
    let_kernels_be_resident_together();
    std::vector<ExitCode> codes(static_cast<std::size_t>(*options.virtual_ranks), ExitCode::internal);
    bootstrap::run_as_threads(*options.virtual_ranks, [&](Bootstrap& bootstrap) {
        codes[static_cast<std::size_t>(bootstrap.rank())] = run_rank(bootstrap, options, ladder, body);
        bootstrap.barrier();
    });
    return codes[0];
}

}  // namespace

void let_kernels_be_resident_together() {
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

void complain(const std::string& what) {
    std::cerr << "ringscope: " + what + "\n" << std::flush;
}

void end_job(Session& session, const Error& e) {
    engine::host::Control* control = session.control();
    const Bootstrap& bootstrap = session.bootstrap();
    const bool hurry = control != nullptr && control->terminated.load() != 0;
    if (bootstrap.rank() != 0 && !hurry) std::this_thread::sleep_for(grace);
    if (control == nullptr || control->reporter.exchange(1) == 0) {
        complain_and_leave(session, e);
        std::cout.flush();
        if (bootstrap.shares_address_space()) std::_Exit(static_cast<int>(e.code()));
        mpi::abort(static_cast<int>(e.code()));
    }
    std::this_thread::sleep_for(grace);
    std::_Exit(static_cast<int>(e.code()));
}

ExitCode on_all_ranks(const options::Options& options, const Body& body) {
    if (!options.virtual_ranks) return run_processes(options, body);
    return run_threads(options, begin_ladder(), body);
}

namespace {

/// mpirun binds a single rank to one core, where its threads take turns of milliseconds.
void note_binding(std::int64_t devices) {
    const int cpus = environment::allowed_cpus();
    if (cpus >= devices) return;
    std::cerr << "note: this process may use " + std::to_string(cpus) + " CPU(s), and each of its " +
                     std::to_string(devices) +
                     " devices has a thread: times are no measurement; give mpirun --bind-to none\n";
}

}  // namespace

ExitCode on_all_devices(Session& session, std::int64_t devices, const Body& body) {
    const int ranks = session.bootstrap().size();
    if (ranks != 1) {
        throw Error{
            ExitCode::usage, "measure.devices_per_rank is " + std::to_string(devices) + ", and there are " +
                                 std::to_string(ranks) +
                                 " ranks: several GPUs belong to one process alone (mpirun -np 1); for one "
                                 "process per GPU leave it out"};
    }
    note_binding(devices);
    options::Options options = session.options();
    options.virtual_ranks = static_cast<int>(devices);
    options.expect_ranks.reset();  // what was expected of the launcher is there
    return run_threads(options, session.ladder(), body);
}

}  // namespace ringscope::app
