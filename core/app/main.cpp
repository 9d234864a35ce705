// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>

#include "app/commands.hpp"

namespace {

using namespace ringscope;

ExitCode dispatch(const app::Arguments& arguments) {
    const options::Options options = options::parse_options(arguments);
    switch (options.command) {
        case options::Command::run:
            return app::run(options, arguments);
        case options::Command::conform:
            return app::conform(options);
        case options::Command::convert:
            return app::convert(options);
        case options::Command::doctor:
            return app::doctor(options);
        case options::Command::list:
            return app::list(options);
        case options::Command::describe:
            return app::describe(options);
        case options::Command::validate:
            return app::validate(options);
        case options::Command::version:
            std::cout << options::version_text() << "\n";
            break;
        case options::Command::help:
            std::cout << options::help_text(options.help_topic);
            break;
    }
    return ExitCode::ok;
}

/// Before MPI begins the launcher alone knows. All ranks of a job have the same words to complain of: the
/// first one does so, and mpirun ends the others.
bool is_first_of_job() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* rank = std::getenv(name)) return std::string_view{rank} == "0";
    }
    return true;
}

constexpr std::chrono::seconds grace{3};

}  // namespace

int main(int argc, char** argv) {
    // Freed memory stays with the process: giving it back and faulting it in again cost more than writing a
    // case's rows.
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    // A file size limit shall be an error of the write that meets it, not the end of the process.
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return static_cast<int>(dispatch({argv + 1, argv + argc}));
    } catch (const Error& e) {
        if (!is_first_of_job()) std::this_thread::sleep_for(grace);
        std::cerr << "ringscope: " << e.what() << "\n";
        return static_cast<int>(e.code());
    } catch (const std::exception& e) {
        std::cerr << "ringscope: internal error: " << e.what() << "\n";
        return static_cast<int>(ExitCode::internal);
    }
}
