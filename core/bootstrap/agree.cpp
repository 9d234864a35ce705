// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/bootstrap.hpp"

#include <exception>
#include <new>

namespace ringscope::bootstrap {
namespace {

struct Outcome {
    ExitCode code = ExitCode::ok;
    std::string message;
};

Outcome outcome_of(const std::function<void()>& step) {
    try {
        step();
        return {};
    } catch (const Error& e) {
        return {e.code(), e.what()};
    } catch (const std::bad_alloc&) {
        return {ExitCode::out_of_memory, "out of memory"};
    } catch (const std::exception& e) {
        return {ExitCode::internal, e.what()};
    }
}

}  // namespace

void agree(Bootstrap& bootstrap, const std::function<void()>& step) {
    const Outcome mine = outcome_of(step);
    const std::string text = std::to_string(static_cast<int>(mine.code)) + " " + mine.message;
    Outcome all;
    int failed_rank = 0, rank = 0;
    for (const std::string& other : bootstrap.all_gather(text)) {
        const auto code = static_cast<ExitCode>(std::stoi(other));
        if (code != all.code && worst(code, all.code) == code) {
            all = {code, other.substr(other.find(' ') + 1)};
            failed_rank = rank;
        }
        ++rank;
    }
    if (all.code == ExitCode::ok) return;
    const std::string where = failed_rank == 0 ? "" : "rank " + std::to_string(failed_rank) + ": ";
    throw AgreedError{all.code, where + all.message};
}

}  // namespace ringscope::bootstrap
